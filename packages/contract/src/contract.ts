import { initContract } from '@ts-rest/core'
import * as z from 'zod/mini'
import { ErrorBody } from './error.ts'
import { NewPlant, Plant } from './plant.ts'

/** The one operation: `POST /plants`. 4xx and 503: nothing was stored by this request. */
export const contract = initContract().router(
  {
    createPlant: {
      method: 'POST',
      path: '/plants',
      summary: 'Creates a new plant in the store',
      headers: { authorization: z.string() },
      body: NewPlant,
      responses: {
        200: Plant,
        400: ErrorBody,
        401: ErrorBody,
        404: ErrorBody,
        405: ErrorBody,
        408: ErrorBody,
        413: ErrorBody,
        415: ErrorBody,
        417: ErrorBody,
        429: ErrorBody,
        431: ErrorBody,
        500: ErrorBody,
        503: ErrorBody,
      },
    },
  },
  { strictStatusCodes: true },
)
