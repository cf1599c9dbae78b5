import { contract, encodeJson, errorTable } from '@plant-store/contract'
import { type CallResult, type PlantStoreMeta, runCall } from './call.ts'
import type { NewPlant, NewPlantInput, Plant } from './contract-types.ts'
import { isPlantStoreError, type PlantStoreError } from './errors.ts'
import {
  type CreatePlantOptions,
  callRules,
  checkOptions,
  type PlantStoreClientOptions,
} from './options.ts'
import { type Decoded, decodeResponse, encodeStored, parsePlant } from './plant-codec.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { toSettings } from './settings.ts'

/** What became of a plant, as a value. */
export type CreatePlantResult =
  | {
      /** The plant is stored. */
      readonly ok: true
      /** The plant as the server has it. */
      readonly plant: Plant
      /** How the call went. */
      readonly meta: PlantStoreMeta
    }
  | {
      /** The call failed; `error.applied` says whether the plant is stored all the same. */
      readonly ok: false
      /** Why: what createPlant would have thrown. */
      readonly error: PlantStoreError
      /** How the call went. */
      readonly meta: PlantStoreMeta
    }

/** A client of one plant store. It holds no connection and needs no closing. */
export interface PlantStoreClient {
  /**
   * Stores a plant and resolves once it is on the server's disk.
   * The id is a safe integer or a bigint and arrives with all its digits.
   * The same plant may be sent again at any time, so what may pass is tried again;
   * another plant under its id is refused (`conflict`).
   * @throws PlantStoreError, whose `applied` says whether the plant was stored.
   */
  createPlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<Plant>
  /**
   * The same, with a failure as a value.
   * @throws PlantStoreError for options that cannot work, and nothing else.
   */
  tryCreatePlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<CreatePlantResult>
  /**
   * Resolves once the server has taken the token, and stores nothing: it sends what is never a plant.
   * @throws PlantStoreError as createPlant does, such as `unauthorized` for a token that is not taken;
   * `applied` is always `no`.
   */
  checkToken(options?: CreatePlantOptions): Promise<void>
}

/** The operation of one plant store, with all that arrived: what the faces of the client share. */
export interface PlantCalls {
  readonly url: URL
  /**
   * What went wrong is in the result.
   * @throws PlantStoreError for options that cannot work, and nothing else.
   */
  call(plant: NewPlantInput, options: CreatePlantOptions): Promise<CallResult>
  /** The same for what is never a plant; there is no error where the server took the token. */
  check(options: CreatePlantOptions): Promise<CallResult>
}

const { method, path } = contract.createPlant

/** The server looks at the token first, and then refuses a body without the fields of a plant. */
function decodeRefusal(status: number, bytes: Uint8Array): Decoded {
  const decoded = decodeResponse(status, bytes, {} as NewPlant)
  const expected = errorTable.invalid_plant
  const isRefusal = 'errorBody' in decoded && decoded.errorBody.error === expected.code
  return isRefusal && status === expected.status ? { plant: undefined } : decoded
}

/** The calls of a client, which takes its clocks, timers and chance from `runtime`. */
export function openCalls(options: PlantStoreClientOptions, runtime: Runtime): PlantCalls {
  const settings = toSettings(options)
  const url = new URL(settings.baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, '') + path
  return {
    url,
    async call(plant, callOptions) {
      checkOptions(callOptions, callRules)
      let sent: NewPlant
      try {
        // Read once, before anything else happens: what the caller changes later is not sent.
        sent = parsePlant(plant)
      } catch (error) {
        if (!isPlantStoreError(error)) throw error
        return { head: undefined, error, meta: { attempts: 0, durationMs: 0 } }
      }
      const decode = (status: number, bytes: Uint8Array) => decodeResponse(status, bytes, sent)
      const expected = () => encodeStored(sent)
      const operation = { url, method, body: encodeJson(sent), expected, decode }
      return runCall(settings, callOptions, runtime, operation)
    },
    async check(callOptions) {
      checkOptions(callOptions, callRules)
      const operation = { url, method, body: '{}', decode: decodeRefusal }
      return runCall(settings, callOptions, runtime, operation)
    },
  }
}

/** A client that takes its clocks, timers and chance from `runtime`. */
export function createClient(options: PlantStoreClientOptions, runtime: Runtime): PlantStoreClient {
  const { call, check } = openCalls(options, runtime)
  return Object.freeze<PlantStoreClient>({
    async createPlant(plant, callOptions = {}) {
      const result = await call(plant, callOptions)
      if (result.plant !== undefined) return result.plant
      throw result.error
    },
    async tryCreatePlant(given, callOptions = {}) {
      const { plant, error, meta } = await call(given, callOptions)
      if (plant !== undefined) return { ok: true, plant, meta }
      return { ok: false, error: error as PlantStoreError, meta }
    },
    async checkToken(callOptions = {}) {
      const { error } = await check(callOptions)
      if (error !== undefined) throw error
    },
  })
}

/**
 * A client of one plant store.
 * @throws PlantStoreError for options that cannot work, unknown ones included.
 */
export function createPlantStoreClient(options: PlantStoreClientOptions = {}): PlantStoreClient {
  return createClient(options, systemRuntime)
}
