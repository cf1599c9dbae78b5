import { contract, headerNames } from '@plant-store/contract'
import {
  type ApiFetcher,
  type ApiFetcherArgs,
  type ContractPlainType,
  type InitClientReturn,
  initClient,
} from '@ts-rest/core'
import { openCalls } from './client.ts'
import type { ContractValues, ErrorBody, NewPlantInput, Plant } from './contract-types.ts'
import { type Applied, optionError } from './errors.ts'
import type { CreatePlantOptions, PlantStoreClientOptions } from './options.ts'

/** The contract, as ts-rest infers its types from it; no schema of zod is needed to read them. */
export type RestContract = {
  /** The operation. */
  createPlant: {
    method: ContractValues['method']
    path: ContractValues['path']
    body: ContractPlainType<NewPlantInput>
    responses: Record<ContractValues['success'], ContractPlainType<Plant>> &
      Record<ContractValues['failure'], ContractPlainType<ErrorBody>>
    strictStatusCodes: true
  }
}

/** What a call takes besides ts-rest's own arguments; see CreatePlantOptions. */
export type RestOptions = Pick<CreatePlantOptions, 'timeoutMs' | 'totalTimeoutMs' | 'maxRetries'>

/** Whether the plant was stored, by this request or an earlier one of the call. */
type Told<T> = T & { readonly applied: Applied }
type Api = (args: ApiFetcherArgs & RestOptions) => Promise<Told<Awaited<ReturnType<ApiFetcher>>>>
type TsRestClient = InitClientReturn<RestContract, { baseUrl: string; api: Api }>

/**
 * A client of ts-rest: every status of the contract is a value, checked against its schema.
 * Its functions take `fetchOptions.signal`, `extraHeaders` and RestOptions.
 * @throws PlantStoreError where no response of the contract arrived, or a call could not be made.
 */
export type RestClient = {
  readonly [Name in keyof TsRestClient]: (
    ...args: Parameters<TsRestClient[Name]>
  ) => Promise<Told<Awaited<ReturnType<TsRestClient[Name]>>>>
}

/** ts-rest writes a body with JSON.stringify, which takes no bigint, before it hands it over. */
const unwritten = (plant: unknown) => ({ plant, toJSON: () => null }) as unknown as NewPlantInput

/** Sends what ts-rest would send, by our own transport. */
function createApi({ url, call }: ReturnType<typeof openCalls>): Api {
  return async (args) => {
    // The token is for the server of the client alone.
    if (args.path !== url.href) throw optionError('overrideClientOptions', 'cannot change baseUrl')
    const { [headerNames.contentType]: _ours, ...headers } = args.headers
    const { signal, ...unknown } = args.fetchOptions ?? {}
    const { timeoutMs, totalTimeoutMs, maxRetries } = args
    const own = { timeoutMs, totalTimeoutMs, maxRetries, headers, signal: signal ?? undefined }
    const { plant: given } = args.rawBody as { plant: NewPlantInput }
    const { plant, error, meta } = await call(given, { ...unknown, ...own })
    const { status = 0, headers: received = new Headers() } = meta
    const head = { status, headers: received }
    if (plant !== undefined) return { ...head, body: plant, applied: 'yes' }
    const { apiCode, apiMessage: message = '', applied = 'maybe' } = error ?? {}
    const isDeclared = apiCode !== undefined && status in contract.createPlant.responses
    if (!isDeclared) throw error
    return { ...head, body: { error: apiCode, message }, applied }
  }
}

/**
 * ts-rest's own client (`initClient`) over the transport of this package, with its options: token,
 * retries, time-outs, ids with every digit, and responses that are checked.
 * @throws PlantStoreError for options that cannot work, unknown ones included.
 */
export function createRestClient(options: PlantStoreClientOptions = {}): RestClient {
  const calls = openCalls(options)
  // Our transport sends the headers of the contract, so no caller has to.
  const { headers: _ours, ...createPlant } = contract.createPlant
  const baseUrl = calls.url.href.slice(0, -createPlant.path.length)
  const client: TsRestClient = initClient({ createPlant }, { baseUrl, api: createApi(calls) })
  return Object.freeze<RestClient>({
    createPlant(args) {
      const request = { ...args, body: unwritten(args?.body) }
      return client.createPlant(request) as ReturnType<RestClient['createPlant']>
    },
  })
}
