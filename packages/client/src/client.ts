import {
  contract,
  decodeJson,
  describeProblems,
  encodeJson,
  ErrorBody as errorBodySchema,
  type NewPlant,
  type Problem,
} from '@plant-store/contract'
import type { DecodedAnswer } from './answer.ts'
import { type CallResult, type PlantStoreMeta, runCall } from './call.ts'
import type { ErrorBody, ErrorStatus, NewPlantInput, Plant } from './contract-types.ts'
import { type AnyPlantStoreError, PlantStoreInputError } from './errors.ts'
import {
  type CreatePlantOptions,
  callRules,
  checkOptions,
  type PlantStoreClientOptions,
} from './options.ts'
import type { PlantStoreIssue } from './plant-store-error.ts'
import { type Runtime, systemRuntime } from './runtime.ts'
import { toCallSettings, toSettings } from './settings.ts'

/** An answer by its status: 200 with the Plant, any other status of the contract with an Error. */
export type CreatePlantAnswer =
  | { readonly status: 200; readonly body: Plant; readonly headers: Headers }
  | { readonly status: ErrorStatus; readonly body: ErrorBody; readonly headers: Headers }

/** What became of a plant, as a value. */
export type CreatePlantResult =
  | { readonly ok: true; readonly plant: Plant; readonly meta: PlantStoreMeta }
  | { readonly ok: false; readonly error: AnyPlantStoreError; readonly meta: PlantStoreMeta }

/** A client of one plant store. It holds no connection and needs no closing. */
export interface PlantStoreClient {
  /**
   * Stores a plant and resolves once it is on the server's disk.
   * The id is a safe integer or a bigint and arrives with all its digits.
   * The same plant may be sent again at any time, so what may pass is tried again;
   * another plant under its id is refused (`conflict`).
   * @throws PlantStoreError of the class that fits; `applied` tells whether the plant was stored.
   */
  createPlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<Plant>
  /**
   * The same, with a failure as a value.
   * @throws PlantStoreConfigError for options that cannot work, and nothing else.
   */
  tryCreatePlant(plant: NewPlantInput, options?: CreatePlantOptions): Promise<CreatePlantResult>
  /** The operation as the contract states it: every status is a value, checked against its schema. */
  readonly rest: {
    /**
     * Sends exactly one request unless this call asks for more with `maxRetries`.
     * @throws PlantStoreError where no answer of the contract arrived.
     */
    createPlant(
      request: { readonly body: NewPlantInput },
      options?: CreatePlantOptions,
    ): Promise<CreatePlantAnswer>
  }
}

const { method, path, body: newPlant, responses } = contract.createPlant

function toIssues(problems: readonly Problem[]): PlantStoreIssue[] {
  return problems.map(({ path: steps = [], message }) => ({
    path: steps.map((step) => String(typeof step === 'object' ? step.key : step)),
    message,
  }))
}

const LOST_DIGITS = 'a number beyond 2^53 has lost digits already, so give a bigint'

/** Problems with a plant; of an id that is too large for a number it is told what to do. */
function findProblems(plant: NewPlantInput, problems: readonly Problem[]): readonly Problem[] {
  const { id } = Object(plant) as Partial<NewPlantInput>
  if (!Number.isInteger(id) || Number.isSafeInteger(id)) return problems
  return problems.map((problem) =>
    problem.path?.[0] === 'id'
      ? { ...problem, message: `${problem.message}: ${LOST_DIGITS}` }
      : problem,
  )
}

/** The plant and nothing else of what the caller gave, with a bigint as its id. */
function validate(plant: NewPlantInput): NewPlant {
  let problems: readonly Problem[]
  try {
    const { data, error } = newPlant.safeParse(plant)
    if (error === undefined) return data
    problems = findProblems(plant, error.issues)
  } catch {
    problems = [{ message: 'could not be read' }]
  }
  const message = `nothing was sent: ${describeProblems(problems)}`
  throw new PlantStoreInputError(message, toIssues(problems))
}

function encodePlant({ id, name, tag }: NewPlant): string {
  return encodeJson({ id, name, tag })
}

/** The server answers with what it was sent, unchanged: any other plant is somebody else's answer. */
function compare(plant: Plant, sent: NewPlant): DecodedAnswer {
  const fields = (['name', 'tag'] as const).filter((field) => plant[field] !== sent[field])
  const issues = fields.map((field) => ({ path: [field], message: 'is not what was sent' }))
  return issues.length === 0 ? { plant } : { isJson: true, issues }
}

function decodeAnswer(status: number, bytes: Uint8Array, sent: NewPlant): DecodedAnswer {
  let value: unknown
  try {
    value = decodeJson(bytes)
  } catch (thrown) {
    const message = `the body ${(thrown as Error).message}`
    return { isJson: false, issues: [{ path: [], message }] }
  }
  if (status === 200) {
    const { data, error } = responses[200].safeParse(value)
    return error === undefined
      ? compare(data, sent)
      : { isJson: true, issues: toIssues(error.issues) }
  }
  const { data, error } = errorBodySchema.safeParse(value)
  return error === undefined
    ? { errorBody: data }
    : { isJson: true, issues: toIssues(error.issues) }
}

function isDeclared(status: number): status is ErrorStatus {
  return status in responses
}

function toAnswer({ head, plant, errorBody, error }: CallResult): CreatePlantAnswer {
  const { status = 0, headers = new Headers() } = head ?? {}
  if (plant !== undefined) return { status: 200, body: plant, headers }
  if (errorBody !== undefined && isDeclared(status)) return { status, body: errorBody, headers }
  throw error
}

function toResult({ plant, error, meta }: CallResult): CreatePlantResult {
  if (plant !== undefined) return { ok: true, plant, meta }
  return { ok: false, error: error as AnyPlantStoreError, meta }
}

/** A client that takes its clocks, timers and chance from `runtime`. */
export function createClient(options: PlantStoreClientOptions, runtime: Runtime): PlantStoreClient {
  const settings = toSettings(options)
  const url = new URL(settings.baseUrl)
  url.pathname = url.pathname.replace(/\/+$/, '') + path

  async function call(plant: NewPlantInput, callOptions: CreatePlantOptions): Promise<CallResult> {
    checkOptions(callOptions, callRules)
    let sent: NewPlant
    try {
      // Read once, before anything else happens: what the caller changes later is not sent.
      sent = validate(plant)
    } catch (error) {
      if (!(error instanceof PlantStoreInputError)) throw error
      return { head: undefined, error, meta: { attempts: 0, durationMs: 0 } }
    }
    const decode = (status: number, bytes: Uint8Array) => decodeAnswer(status, bytes, sent)
    const operation = { url, method, body: encodePlant(sent), decode }
    return runCall(toCallSettings(settings, callOptions), runtime, operation)
  }

  return Object.freeze<PlantStoreClient>({
    async createPlant(plant, callOptions = {}) {
      const result = await call(plant, callOptions)
      if (result.plant !== undefined) return result.plant
      throw result.error
    },
    tryCreatePlant: async (plant, callOptions = {}) => toResult(await call(plant, callOptions)),
    rest: Object.freeze<PlantStoreClient['rest']>({
      async createPlant(request, callOptions) {
        if (callOptions !== undefined) checkOptions(callOptions, callRules)
        const maxRetries = callOptions?.maxRetries ?? 0
        return toAnswer(await call(request?.body, { ...callOptions, maxRetries }))
      },
    }),
  })
}

/**
 * A client of one plant store.
 * @throws PlantStoreConfigError for options that cannot work, unknown ones included.
 */
export function createPlantStoreClient(options: PlantStoreClientOptions = {}): PlantStoreClient {
  return createClient(options, systemRuntime)
}
