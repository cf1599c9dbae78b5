import {
  contract,
  describeProblems,
  encodeJson,
  headerNames,
  REPLAYED,
  SUCCESS_STATUS,
} from '@plant-store/contract'
import { createExpressEndpoints, initServer, type RequestValidationError } from '@ts-rest/express'
import type { Express, RequestHandler } from 'express'
import * as z from 'zod'
import { OutcomeUnknownError, type PlantStore } from '../store/store.ts'
import { type PipelineOptions, respond } from './pipeline.ts'
import { RequestError } from './request-error.ts'
import { addHeader } from './response.ts'

function refuseInvalidPlant({ body }: RequestValidationError): never {
  throw new RequestError('invalid_plant', describeProblems(body?.issues ?? []))
}

/** Takes anything and gives nothing. */
const checkedBefore = {
  '~standard': { version: 1, vendor: 'plant-store', validate: () => ({ value: undefined }) },
} as const

/** The same check, as code that zod writes for its shape: zod/mini's takes twice as long. */
function compile<Schema extends z.core.$ZodObject>({ _zod: { def } }: Schema): Schema {
  return new z.core.$ZodObjectJIT(def) as z.core.$ZodObject as Schema
}

const { createPlant: defined } = contract

const routes = {
  createPlant: {
    ...defined,
    body: compile(defined.body),
    responses: {
      ...defined.responses,
      [SUCCESS_STATUS]: compile(defined.responses[SUCCESS_STATUS]),
    },
    // ts-rest would build a schema of the headers for each request, and copy them if there were none.
    headers: checkedBefore as never,
  },
}

/** Adds `POST /plants` to an app. The middleware in `before` puts the decoded body into `request.body`. */
export function addCreatePlant(
  app: Express,
  pipeline: PipelineOptions,
  plants: PlantStore,
  before: RequestHandler,
): void {
  const endpoints = initServer().router(routes, {
    async createPlant({ body, res: response }) {
      const { locals } = response
      const outcome = await plants.create(body, locals)
      switch (outcome) {
        case 'created':
        case 'already_there':
          locals.outcome = outcome
          if (outcome === 'already_there') {
            addHeader(response, headerNames.idempotentReplayed, REPLAYED)
          }
          // ts-rest gives on what the contract has in a response: all of it but the id.
          return { status: SUCCESS_STATUS, body }
        case 'id_taken':
          throw new RequestError(
            'id_taken',
            `id: ${body.id} is taken by a plant with other content`,
          )
        default:
          throw new OutcomeUnknownError(`the store has no such outcome: ${outcome satisfies never}`)
      }
    },
  })
  // ts-rest checks what the handler returns against the contract and then calls this, as
  // `response.status(200).json(plant)`.
  app.response.json = function (plant) {
    respond(this, encodeJson(plant), pipeline)
    return this
  }
  createExpressEndpoints(routes, endpoints, app, {
    logInitialization: false,
    responseValidation: true,
    globalMiddleware: [before],
    requestValidationErrorHandler: refuseInvalidPlant,
  })
}
