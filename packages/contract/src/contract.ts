import { initContract } from '@ts-rest/core'
import * as z from 'zod/mini'
import { ErrorBody, type ErrorStatus, errorTable } from './error.ts'
import { NewPlant, Plant } from './plant.ts'

type ErrorResponses = { readonly [Status in ErrorStatus]: typeof ErrorBody }

const errorResponses = Object.fromEntries(
  Object.values(errorTable).map(({ status }) => [status, ErrorBody]),
) as ErrorResponses

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
        ...errorResponses,
      },
    },
  },
  { strictStatusCodes: true },
)
