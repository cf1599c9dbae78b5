import { type ErrorBody, type ErrorName, errorNameOf, type Problem } from '@plant-store/contract'

/** Everything that the client throws. */
export class PlantStoreError extends Error {
  override name = 'PlantStoreError'
}

/** An option of the client cannot work; nothing was sent. The message never holds the option's value. */
export class PlantStoreConfigError extends PlantStoreError {
  override name = 'PlantStoreConfigError'
  readonly option: string

  constructor(option: string, rule: string) {
    super(`${option} ${rule}`)
    this.option = option
  }
}

/** The plant is not one; nothing was sent. `problems` tell where and why. */
export class PlantStoreInputError extends PlantStoreError {
  override name = 'PlantStoreInputError'
  readonly problems: readonly Problem[]

  constructor(message: string, problems: readonly Problem[]) {
    super(message)
    this.problems = problems
  }
}

/** The server answered with an Error body. */
export class PlantStoreApiError extends PlantStoreError {
  override name = 'PlantStoreApiError'
  /** HTTP status of the answer. */
  readonly status: number
  /** The stable number of the error, such as 40003. */
  readonly apiCode: number
  /** The name of that number in the contract, or undefined where this version does not know it. */
  readonly apiName: ErrorName | undefined
  /** The server's own words. */
  readonly apiMessage: string

  constructor(status: number, { error, message }: ErrorBody) {
    super(`the plant store answered ${status}: ${message} (${error})`)
    this.status = status
    this.apiCode = error
    this.apiName = errorNameOf(error)
    this.apiMessage = message
  }
}

/** No complete answer arrived: the plant may have been stored, and sending it again is safe. */
export class PlantStoreConnectionError extends PlantStoreError {
  override name = 'PlantStoreConnectionError'
}

/** An answer arrived that the contract does not know, such as a proxy's page. */
export class PlantStoreResponseError extends PlantStoreError {
  override name = 'PlantStoreResponseError'
  readonly status: number

  constructor(status: number, options?: ErrorOptions) {
    super(`the answer with status ${status} is not one of the plant store's`, options)
    this.status = status
  }
}
