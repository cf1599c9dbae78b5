import {
  contract,
  decodeJson,
  describeProblems,
  ErrorBody,
  type ErrorStatus,
  encodeJson,
  NewPlant,
  type NewPlantInput,
  Plant,
} from '@plant-store/contract'
import { type ApiFetcherArgs, initClient } from '@ts-rest/core'
import {
  PlantStoreApiError,
  PlantStoreConfigError,
  PlantStoreConnectionError,
  PlantStoreInputError,
  PlantStoreResponseError,
} from './errors.ts'

export interface PlantStoreClientOptions {
  /** Where the server is, such as `http://127.0.0.1:3000`; a path is kept. */
  readonly baseUrl: string
  /** The token that the server's operator gave out. */
  readonly token: string
  /** Another fetch, for a proxy or a test. Default: the global one at the time of the call. */
  readonly fetch?: typeof fetch
}

export interface CreatePlantOptions {
  /** Ends the call; the plant may have been stored. */
  readonly signal?: AbortSignal
}

/** An answer by its status: 200 with the Plant, any other status of the contract with an Error. */
export type CreatePlantAnswer =
  | { readonly status: 200; readonly body: Plant; readonly headers: Headers }
  | { readonly status: ErrorStatus; readonly body: ErrorBody; readonly headers: Headers }

export interface PlantStoreClient {
  /**
   * Stores a plant and resolves once it is on the server's disk.
   * The id is a safe integer or a bigint and arrives with all its digits.
   * The same plant may be sent again at any time; another plant under its id is refused.
   * @throws PlantStoreInputError before sending, PlantStoreApiError for an Error answer,
   * PlantStoreConnectionError and PlantStoreResponseError where the outcome is unknown.
   */
  createPlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<Plant>
  /** The operation as the contract states it: every status is a value, checked against its schema. */
  readonly rest: {
    createPlant(
      request: { readonly body: NewPlantInput },
      options?: CreatePlantOptions,
    ): Promise<CreatePlantAnswer>
  }
}

/** What RFC 9110 §5.5 lets a header hold, less the space: fetch would quote anything else in its error. */
const TOKEN = /^[\x21-\x7e]+$/

function checkOptions({ baseUrl, token }: PlantStoreClientOptions): void {
  if (!URL.canParse(baseUrl) || !/^https?:/i.test(baseUrl)) {
    throw new PlantStoreConfigError('baseUrl', 'must be a URL such as http://127.0.0.1:3000')
  }
  if (!TOKEN.test(token)) {
    throw new PlantStoreConfigError('token', 'must be printable ASCII without spaces')
  }
}

/** The plant and nothing else of what the caller gave, with a bigint as its id. */
function validate(plant: NewPlantInput): NewPlant {
  const { data, error } = NewPlant.safeParse(plant)
  if (error === undefined) return data
  throw new PlantStoreInputError(
    `nothing was sent: ${describeProblems(error.issues)}`,
    error.issues.map(({ path, message }) => ({ path, message })),
  )
}

/** ts-rest calls JSON.stringify on a body before its fetcher runs, and a bigint would throw there. */
function withoutJson(plant: NewPlant): NewPlant {
  return Object.defineProperty({ ...plant }, 'toJSON', { value: () => null })
}

function encodePlant({ id, name, tag }: NewPlant): string {
  return encodeJson({ id, name, tag })
}

async function exchange(fetcher: typeof fetch, args: ApiFetcherArgs) {
  const { path, method, headers, rawBody, fetchOptions } = args
  try {
    const response = await fetcher(path, {
      ...fetchOptions,
      method,
      headers,
      body: encodePlant(rawBody as NewPlant),
      redirect: 'manual',
    })
    const bytes = new Uint8Array(await response.arrayBuffer())
    return { status: response.status, headers: response.headers, bytes }
  } catch (cause) {
    throw new PlantStoreConnectionError(`no answer from ${new URL(path).host}`, { cause })
  }
}

function decodeAnswer(status: number, bytes: Uint8Array): unknown {
  const schema = status === 200 ? Plant : ErrorBody
  if (!(status in contract.createPlant.responses)) throw new PlantStoreResponseError(status)
  try {
    return schema.parse(decodeJson(bytes))
  } catch (cause) {
    throw new PlantStoreResponseError(status, { cause })
  }
}

/**
 * A client of one plant store. It holds no connection and needs no closing.
 * @throws PlantStoreConfigError for options that cannot work.
 */
export function createPlantStoreClient(options: PlantStoreClientOptions): PlantStoreClient {
  checkOptions(options)
  const operations = initClient(contract, {
    baseUrl: options.baseUrl.replace(/\/+$/, ''),
    baseHeaders: { authorization: `Bearer ${options.token}` },
    async api(args) {
      const { status, headers, bytes } = await exchange(options.fetch ?? globalThis.fetch, args)
      return { status, headers, body: decodeAnswer(status, bytes) }
    },
  })

  async function createPlantAnswer(
    { body }: { readonly body: NewPlantInput },
    { signal }: CreatePlantOptions = {},
  ): Promise<CreatePlantAnswer> {
    return operations.createPlant({
      body: withoutJson(validate(body)),
      ...(signal && { fetchOptions: { signal } }),
    })
  }

  return {
    async createPlant(plant, callOptions) {
      const answer = await createPlantAnswer({ body: plant }, callOptions)
      if (answer.status === 200) return answer.body
      throw new PlantStoreApiError(answer.status, answer.body)
    },
    rest: { createPlant: createPlantAnswer },
  }
}
