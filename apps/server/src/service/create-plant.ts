import { contract, describeProblems } from '@plant-store/contract'
import { createExpressEndpoints, initServer, type RequestValidationError } from '@ts-rest/express'
import type { Express, RequestHandler } from 'express'
import { RequestError } from '../http/request-error.ts'
import { OutcomeUnknownError, type PlantStore } from '../store/store.ts'

function refuseInvalidPlant({ body }: RequestValidationError): never {
  throw new RequestError('invalid_plant', describeProblems(body?.issues ?? []))
}

// ts-rest would build a schema of the header for each request; it was checked better before.
const { headers: _checkedBefore, ...createPlantRoute } = contract.createPlant
const routes = { createPlant: createPlantRoute }

/** Adds `POST /plants` to an app; what comes `before` puts the decoded body into `request.body`. */
export function addCreatePlant(app: Express, plants: PlantStore, before: RequestHandler[]): void {
  const endpoints = initServer().router(routes, {
    async createPlant({ body, res: { locals } }) {
      const outcome = await plants.create(body, locals)
      const { id, ...plant } = body
      switch (outcome) {
        case 'created':
        case 'already_there':
          locals.outcome = outcome
          return { status: 200, body: plant }
        case 'id_taken':
          throw new RequestError('id_taken', `id: ${id} is taken by a plant with other content`)
        default:
          outcome satisfies never
          throw new OutcomeUnknownError(`the store gave the unknown outcome ${outcome}`)
      }
    },
  })
  createExpressEndpoints(routes, endpoints, app, {
    logInitialization: false,
    responseValidation: true,
    globalMiddleware: before,
    requestValidationErrorHandler: refuseInvalidPlant,
  })
}
