import type { AppRouter } from '@ts-rest/core'
import * as z from 'zod/mini'
import { ErrorBody, type ErrorStatus, errorTable } from './error.ts'
import { NewPlant, Plant } from './plant.ts'

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
    headers: { authorization: z.string() },
    body: NewPlant,
    responses: { 200: Plant, ...errorResponses },
    strictStatusCodes: true,
  },
} as const satisfies AppRouter
