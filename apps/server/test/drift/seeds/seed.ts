/** One change of the contract, as somebody might make it, and what notices it. */
export interface Seed {
  readonly claim: string
  /** A source file of the contract, and text that stands in it exactly once. */
  readonly file: string
  readonly from: string
  readonly to: string
  /** Files that the type check refuses, among others. */
  readonly types?: readonly string[]
  /** Every change of the document by weight and name, but for other words. */
  readonly document?: readonly string[]
  /** One of the cases that fail. */
  readonly failedCase?: string
}

export const MADE_DOCUMENT = 'packages/contract/src/openapi.ts'
export const MADE_SCHEMAS = 'packages/contract/src/openapi/schemas.ts'
export const MADE_RESPONSES = 'packages/contract/src/openapi/responses.ts'
export const MADE_ERRORS = 'packages/contract/src/openapi/errors.ts'
export const SERVER_STORE = 'apps/server/src/store/sqlite/plants.ts'
export const SERVER_SNAPSHOT = 'apps/server/src/store/sqlite/snapshot.ts'
export const SERVER_ANSWER = 'apps/server/src/http/reply.ts'
export const SERVER_CONNECTION = 'apps/server/src/http/connection-errors.ts'
export const SERVER_HANDLER = 'apps/server/src/plants.ts'
export const SERVER_COMMITS = 'apps/server/src/store/sqlite/commit-messages.ts'
export const CLIENT = 'packages/client/src/client.ts'
export const CLIENT_ERRORS = 'packages/client/src/errors.ts'

/** A program of a caller, which names the fields of a plant as well. */
export const CALLER = 'packages/client/test/caller.ts'
export const CALLER_SOURCE = `
import { createPlantStoreClient } from '../src/index.ts'
const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:3000', token: 'token' })
const { name, tag } = await client.createPlant({ id: 7, name: 'Fern', tag: 'shade' })
export { name, tag }
`
