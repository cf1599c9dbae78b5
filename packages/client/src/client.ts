import { encodeJson } from '@plant-store/contract'
import { Call } from './call.ts'
import type { NewPlantInput, Plant } from './contract-types.ts'
import { isPlantStoreError, type PlantStoreError } from './errors.ts'
import {
  type CreatePlantOptions,
  checkOptions,
  type PlantStoreClientOptions,
  toSettings,
} from './options.ts'
import { parsePlant } from './plant-codec.ts'
import type { CallResult, PlantStoreMeta } from './response.ts'

/** What became of a plant, as a value. */
export type CreatePlantResult =
  /** The plant is stored, as the server has it. */
  | { readonly ok: true; readonly plant: Plant; readonly meta: PlantStoreMeta }
  /** The call failed; `error.applied` says whether the plant is stored all the same. */
  | { readonly ok: false; readonly error: PlantStoreError; readonly meta: PlantStoreMeta }

/** A client of one plant store. It holds no connection and needs no closing. */
export interface PlantStoreClient {
  /**
   * Stores a plant and resolves once it is on the server's disk. Its id, a safe integer or a bigint,
   * arrives with all its digits. What may pass is tried again, as the same plant may be sent again at
   * any time; another plant under its id is refused (`conflict`).
   * @throws PlantStoreError, whose `applied` says whether the plant was stored.
   */
  createPlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<Plant>
  /** The same, with a failure as a value. @throws PlantStoreError for options that cannot work */
  tryCreatePlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<CreatePlantResult>
  /**
   * Resolves once the server has taken the token, and stores nothing: it sends what is never a plant.
   * @throws PlantStoreError as createPlant does, such as `unauthorized`; `applied` is always `no`.
   */
  checkToken(options?: CreatePlantOptions): Promise<void>
}

/**
 * What the faces of the client share: the operation of one plant store, with all that arrived.
 * @throws PlantStoreError for options that cannot work, unknown ones included.
 */
export function openCalls(options: PlantStoreClientOptions) {
  const settings = toSettings(options)
  return {
    url: settings.url,
    /** What went wrong is in the result. @throws PlantStoreError for options that cannot work */
    async call(given: NewPlantInput, callOptions: CreatePlantOptions): Promise<CallResult> {
      checkOptions(callOptions, 'call')
      // Read once, before anything else happens: what the caller changes later is not sent.
      const plant = parsePlant(given)
      if (isPlantStoreError(plant)) return { error: plant, meta: { attempts: 0, durationMs: 0 } }
      return new Call(settings, callOptions, encodeJson(plant), plant).run()
    },
    /** The same for what is never a plant; there is no error where the server took the token. */
    async check(callOptions: CreatePlantOptions): Promise<CallResult> {
      checkOptions(callOptions, 'call')
      return new Call(settings, callOptions, '{}').run()
    },
  }
}

/**
 * A client of one plant store.
 * @throws PlantStoreError for options that cannot work, unknown ones included.
 */
export function createPlantStoreClient(options: PlantStoreClientOptions = {}): PlantStoreClient {
  const { call, check } = openCalls(options)
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
