import {
  type contract,
  errorNameOf,
  type errorTable,
  type SUCCESS_STATUS,
} from '@plant-store/contract'
import type { ClientInferRequest, ClientInferResponses, ServerInferRequest } from '@ts-rest/core'

type Route = typeof contract.createPlant
type Success = typeof SUCCESS_STATUS
type Failure = (typeof errorTable)['internal']['status']

/**
 * Values with the types that ts-rest infers from the contract; never called. The compiler writes their
 * types out in full, so that the declarations need neither those of the contract nor those of zod.
 */
const contractValues = () => {
  const { method, path } = {} as Route
  const { body: input } = {} as ClientInferRequest<Route>
  const { body: newPlant } = {} as ServerInferRequest<Route>
  const { status: success, body: plant } = {} as ClientInferResponses<Route, Success>
  // One status for all, whose union would be twelve times the same; rest.ts does not compile where
  // the body of another cannot be read as this one.
  const { body: errorBody } = {} as ClientInferResponses<Route, Failure>
  const { status: failure } = {} as Exclude<ClientInferResponses<Route>, { status: Success }>
  const errorName = errorNameOf(0)
  return { method, path, input, newPlant, success, plant, failure, errorBody, errorName }
}

/** What the contract says, by name: its method, path, statuses and bodies. */
export type ContractValues = ReturnType<typeof contractValues>

/** A plant in a response: `name`, and `tag` where the plant has one. */
export type Plant = ContractValues['plant']

/** A plant in a request, its `id` a safe integer or a bigint. Other members are not sent. */
export type NewPlantInput = ContractValues['input']

/** A plant in a request after validation, its `id` a bigint. */
export type NewPlant = ContractValues['newPlant']

/** The body of every response that is not a success: a stable number, and words for people. */
export type ErrorBody = ContractValues['errorBody']

/** Every way in which the server refuses a request, by name. */
export type ErrorName = NonNullable<ContractValues['errorName']>
