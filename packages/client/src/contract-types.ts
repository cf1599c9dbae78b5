import {
  ErrorBody as errorBody,
  errorNameOf,
  errorTable,
  NewPlant as newPlant,
  Plant as plant,
} from '@plant-store/contract'

/**
 * Values whose types are the contract's; never called. The compiler writes the type of a value out
 * in full, so that the declarations of this package stand without those of the contract and of zod.
 */
const contractValues = () => ({
  plant: plant._zod.output,
  newPlant: newPlant._zod.input,
  errorBody: errorBody._zod.output,
  errorName: errorNameOf(0),
  errorStatuses: Object.values(errorTable).map(({ status }) => status),
})
type ContractValues = ReturnType<typeof contractValues>

/** A plant as it is answered: `name`, and `tag` where the plant has one. */
export type Plant = ContractValues['plant']

/** A plant as it is sent, its `id` a safe integer or a bigint. */
export type NewPlantInput = ContractValues['newPlant']

/** The body of every answer that is not 200: a stable number, and words for people. */
export type ErrorBody = ContractValues['errorBody']

/** Every way in which the server refuses a request, by name. */
export type ErrorName = NonNullable<ContractValues['errorName']>

/** The HTTP status of every answer that is not 200. */
export type ErrorStatus = ContractValues['errorStatuses'][number]
