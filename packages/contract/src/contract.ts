import type { AppRouter } from '@ts-rest/core'
import * as z from 'zod/mini'
import { ErrorBody, type ErrorStatus, errorTable } from './error.ts'
import { headerNames } from './headers.ts'
import { NewPlant, Plant } from './plant.ts'

/** The status of a response that says: the plant is on stable storage. */
export const SUCCESS_STATUS = 200

type ErrorResponses = { readonly [Status in ErrorStatus]: typeof ErrorBody }

const errorResponses = Object.fromEntries(
  Object.values(errorTable).map(({ status }) => [status, ErrorBody]),
) as ErrorResponses

/**
 * The one operation, as a ts-rest router: `POST /plants`. 4xx and 503: nothing was stored by this
 * request. Plain data, so that a program that uses the contract need not carry ts-rest.
 */
export const contract = {
  createPlant: {
    method: 'POST',
    path: '/plants',
    summary: 'Creates a new plant in the store',
    contentType: 'application/json',
    headers: {
      [headerNames.authorization]: z.string(),
      [headerNames.contentType]: z.optional(z.string()),
      [headerNames.requestId]: z.optional(z.string()),
      [headerNames.retryCount]: z.optional(z.string()),
    },
    body: NewPlant,
    responses: { [SUCCESS_STATUS]: Plant, ...errorResponses },
    strictStatusCodes: true,
  },
} as const satisfies AppRouter
