import type { PlantStoreAbortError } from './abort-error.ts'
import type { PlantStoreApiError } from './api-error.ts'
import type { PlantStoreConfigError } from './config-error.ts'
import type { PlantStoreConnectionError, PlantStoreTimeoutError } from './connection-error.ts'
import type { PlantStoreInputError } from './input-error.ts'
import {
  type ApiCode,
  type ConnectionCode,
  isBranded,
  type PlantStoreIssue,
} from './plant-store-error.ts'
import type { PlantStoreResponseError } from './response-error.ts'

/** Every error of the client: a `switch` over its `code` narrows it to its class. */
export type AnyPlantStoreError =
  | PlantStoreConfigError
  | PlantStoreInputError
  | (PlantStoreApiError & { readonly code: Exclude<ApiCode, 'invalid_plant'> })
  | (PlantStoreApiError & {
      readonly code: 'invalid_plant'
      readonly issues: readonly PlantStoreIssue[]
    })
  | (PlantStoreConnectionError & { readonly code: ConnectionCode })
  | PlantStoreTimeoutError
  | PlantStoreAbortError
  | PlantStoreResponseError

/** Whether this is an error of the client, also where another copy of the package made it. */
export function isPlantStoreError(value: unknown): value is AnyPlantStoreError {
  return isBranded(value)
}
