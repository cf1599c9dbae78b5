import { contract, isRequestId } from '@plant-store/contract'
import { optionError } from './errors.ts'
import type { PlantStoreEvent } from './events.ts'
import type { PlantStoreFetch } from './fetch.ts'
import { MAX_TIMER_MS } from './runtime.ts'
import type { TokenFunction } from './token.ts'

/** Options of one call; each stands above the client's own. */
export interface CreatePlantOptions {
  /**
   * Ends the call at once, whatever it is doing, with the code `aborted`; `applied` says whether the
   * plant was stored. Default: none.
   */
  readonly signal?: AbortSignal | undefined
  /**
   * Time for one request and its whole response, in milliseconds, above 0; then it is retried, or
   * fails with `attempt_timeout`. Default: that of the client, 10,000.
   */
  readonly timeoutMs?: number | undefined
  /**
   * Time for everything, in milliseconds: token, requests and the waits between them; then the call
   * fails with `total_timeout`. Infinity for no end. Default: that of the client, 60,000.
   */
  readonly totalTimeoutMs?: number | undefined
  /** Requests after the first; 0 means exactly one request. Default: that of the client, 3. */
  readonly maxRetries?: number | undefined
  /**
   * Headers to send besides the client's own, as an object, Headers, or pairs; `user-agent` alone
   * replaces one of those. Names that the client or the runtime must set, such as `authorization`,
   * are refused (`invalid_option`). Default: those of the client.
   */
  readonly headers?:
    | Readonly<Record<string, string>>
    | Headers
    | readonly (readonly [name: string, value: string])[]
    | undefined
  /**
   * The id of the call, the same for all its attempts, under which the server's log has it: 1 to 128
   * characters of `A-Z a-z 0-9 . _ -`, and no secret. Default: a new UUID.
   */
  readonly requestId?: string | undefined
}

/** Options of a client; every one has a default, or comes from the environment. */
export interface PlantStoreClientOptions extends Omit<CreatePlantOptions, 'signal' | 'requestId'> {
  /**
   * Where the server is, such as `http://127.0.0.1:3000`; a path is kept. A user, a query or a
   * fragment is refused (`invalid_base_url`). Default: the environment's PLANT_STORE_BASE_URL.
   */
  readonly baseUrl?: string | URL | undefined
  /**
   * The token that the server's operator gave out, or a function that gives one for each call and
   * another, once, when the server refuses it. Refused where there is none (`missing_token`) or it
   * cannot be one (`invalid_token`). Default: the environment's PLANT_STORE_TOKEN.
   */
  readonly token?: string | TokenFunction | undefined
  /**
   * The longest Retry-After to wait for, in milliseconds; a longer one fails at once, with the error
   * that came with it. Default: 30,000.
   */
  readonly maxRetryAfterMs?: number | undefined
  /**
   * Another fetch, for a proxy or a test. It may have sent more than it was asked to, so a refusal
   * that may pass leaves `applied` at `maybe`. Default: the global one at the time of the call.
   */
  readonly fetch?: PlantStoreFetch | undefined
  /** Called for each request, response, retry and failure; what it throws changes nothing. Default: none. */
  readonly onEvent?: ((event: PlantStoreEvent) => unknown) | undefined
  /** The caller's program, for the User-Agent, in printable ASCII; browsers send none. Default: none. */
  readonly appName?: string | undefined
}

type Rule = readonly [isValid: (value: unknown) => boolean, rule: string]
export type Rules = Readonly<Record<string, Rule>>

const isTime = (value: unknown) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS
const TIME = `must be a number of milliseconds above 0 and up to ${MAX_TIMER_MS}`
export const timeOr = (other: number): Rule => [
  (value) => isTime(value) || value === other,
  `${TIME}, or ${other}`,
]
export const FUNCTION: Rule = [(value) => typeof value === 'function', 'must be a function']
export const integerFrom = (least: number): Rule => [
  (value) => Number.isSafeInteger(value) && Number(value) >= least,
  `must be an integer of ${least} or more`,
]

/** What the client itself says, and what is the runtime's to say of a connection and a body. */
const NOT_TAKEN = [
  ...Object.keys(contract.createPlant.headers),
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/** Headers under their names in lower case, in which they replace each other. */
export function lowerNames(headers: CreatePlantOptions['headers']): Record<string, string> {
  return headers === undefined ? {} : Object.fromEntries(new Headers(headers as HeadersInit))
}

function isHeaders(value: unknown): boolean {
  try {
    const names = Object.keys(lowerNames(value as Record<string, string>))
    const texts = Array.isArray(value) ? value.flat() : Object.values(Object(value))
    const areTexts = texts.every((text) => typeof text === 'string')
    return areTexts && !NOT_TAKEN.some((name) => names.includes(name))
  } catch {
    return false
  }
}

const SIGNAL_MEMBERS = ['aborted', 'addEventListener', 'removeEventListener']
const isSignal = (value: unknown) =>
  typeof value === 'object' && value !== null && SIGNAL_MEMBERS.every((name) => name in value)

const sharedRules: Rules = {
  timeoutMs: [isTime, TIME],
  totalTimeoutMs: timeOr(Number.POSITIVE_INFINITY),
  maxRetries: integerFrom(0),
  headers: [isHeaders, `must hold strings, without ${NOT_TAKEN.join(', ')}`],
}

/** Of what may be given for each plant of a bulk. */
export const eachCallRules: Rules = {
  ...sharedRules,
  signal: [isSignal, 'must be an AbortSignal'],
}

export const callRules: Rules = {
  ...eachCallRules,
  requestId: [
    (value) => typeof value === 'string' && isRequestId(value),
    'must be 1 to 128 characters of A-Z a-z 0-9 . _ -',
  ],
}

export const clientRules: Rules = {
  ...sharedRules,
  baseUrl: [() => true, ''],
  token: [() => true, ''],
  maxRetryAfterMs: timeOr(0),
  fetch: FUNCTION,
  onEvent: FUNCTION,
  appName: [
    (value) => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value),
    'must be printable ASCII',
  ],
}

/** @throws PlantStoreError for a name that is no option, and for a value that cannot be one. */
export function checkOptions(options: unknown, rules: Rules): void {
  // Its own fields would all be unknown, but a signal has none.
  if (typeof options !== 'object' || options === null || options instanceof AbortSignal) {
    throw optionError('invalid_option', 'options', 'must be an object')
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) throw optionError('invalid_option', name, 'is not an option')
    if (value !== undefined && !rule[0](value)) throw optionError('invalid_option', name, rule[1])
  }
}
