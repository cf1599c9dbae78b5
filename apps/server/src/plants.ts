import { contract, describeProblems } from '@plant-store/contract'
import { createExpressEndpoints, initServer, type RequestValidationError } from '@ts-rest/express'
import type { Express, RequestHandler } from 'express'
import { RequestError } from './http/request-error.ts'
import type { PlantStore } from './store/store.ts'

function refuseInvalidPlant({ body, headers }: RequestValidationError): never {
  const problems = (body ?? headers)?.issues ?? []
  throw new RequestError('invalid_plant', describeProblems(problems))
}

/** Adds `POST /plants` to an app; `readBody` puts the decoded body into `request.body`. */
export function addCreatePlant(app: Express, plants: PlantStore, readBody: RequestHandler): void {
  const endpoints = initServer().router(contract, {
    async createPlant({ body }) {
      const outcome = await plants.create(body)
      const { id, ...plant } = body
      if (outcome === 'id_taken') {
        throw new RequestError('id_taken', `id: ${id} is taken by a plant with other content`)
      }
      return { status: 200, body: plant }
    },
  })
  createExpressEndpoints(contract, endpoints, app, {
    logInitialization: false,
    responseValidation: true,
    globalMiddleware: [readBody],
    requestValidationErrorHandler: refuseInvalidPlant,
  })
}
