import { contract } from '@plant-store/contract'
import { PlantStoreConfigError } from './errors/config-error.ts'
import type { PlantStoreEventListener } from './events.ts'
import { MAX_TIMER_MS } from './runtime.ts'
import type { TokenFunction } from './token.ts'

/** Options of one call; each stands above the client's own. */
export interface CreatePlantOptions {
  /** Ends the call at once, whatever it is doing; the plant may have been stored. */
  readonly signal?: AbortSignal | undefined
  /** Time for one request and its whole reply, in milliseconds. */
  readonly timeoutMs?: number | undefined
  /** Time for everything: token, requests and the waits between them, in milliseconds; or Infinity. */
  readonly totalTimeoutMs?: number | undefined
  /** Requests after the first; 0 means exactly one request. */
  readonly maxRetries?: number | undefined
  /** Headers to send besides the client's own. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** Options of a client; every one has a default, or comes from the environment. */
export interface PlantStoreClientOptions extends Omit<CreatePlantOptions, 'signal'> {
  /**
   * Where the server is, such as `http://127.0.0.1:3000`; a path is kept.
   * Default: PLANT_STORE_BASE_URL.
   */
  readonly baseUrl?: string | undefined
  /**
   * The token that the server's operator gave out, or a function that gives one for each call and
   * another, once, when the server refuses it. Default: PLANT_STORE_TOKEN.
   */
  readonly token?: string | TokenFunction | undefined
  /** Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** Default: 60,000. */
  readonly totalTimeoutMs?: number | undefined
  /** Default: 3. */
  readonly maxRetries?: number | undefined
  /** The longest Retry-After to wait for, in milliseconds; a longer one fails at once. Default: 30,000. */
  readonly maxRetryAfterMs?: number | undefined
  /**
   * Another fetch, for a proxy or a test. It may have sent more than it was asked to, so a refusal
   * that may pass leaves `applied` at `maybe`. Default: the global one at the time of the call.
   */
  readonly fetch?: typeof fetch | undefined
  /** Called for each request, response, retry and failure. */
  readonly onEvent?: PlantStoreEventListener | undefined
  /** The caller's program, for the User-Agent; browsers send none. */
  readonly appName?: string | undefined
}

type Rule = readonly [isValid: (value: unknown) => boolean, rule: string]
export type Rules = Readonly<Record<string, Rule>>

export const isTime = (value: unknown) =>
  typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS
export const isFunction = (value: unknown) => typeof value === 'function'
export const TIME = `must be a number of milliseconds above 0 and up to ${MAX_TIMER_MS}`

/** What the client itself says, and must say the same way each time. */
const OWN_HEADERS = Object.keys(contract.createPlant.headers)

/** What is the runtime's to say of a connection and a body; fetch sends nothing with another's. */
const RUNTIME_HEADERS = [
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
const NOT_TAKEN = [...OWN_HEADERS, ...RUNTIME_HEADERS]

/** Headers under their names in lower case, in which they replace each other. */
export function lowerNames(headers: CreatePlantOptions['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(headers))
}

function isHeaders(value: unknown): boolean {
  try {
    const names = Object.keys(lowerNames(value as Record<string, string>))
    const areTexts = Object.values(Object(value)).every((text) => typeof text === 'string')
    return areTexts && !NOT_TAKEN.some((name) => names.includes(name))
  } catch {
    return false
  }
}

function isSignal(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'aborted' in value &&
    'addEventListener' in value &&
    'removeEventListener' in value
  )
}

export const callRules: Rules = {
  signal: [isSignal, 'must be an AbortSignal'],
  timeoutMs: [isTime, TIME],
  totalTimeoutMs: [
    (value) => isTime(value) || value === Number.POSITIVE_INFINITY,
    `${TIME}, or Infinity`,
  ],
  maxRetries: [
    (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    'must be an integer of 0 or more',
  ],
  headers: [isHeaders, `must be an object of strings, without ${NOT_TAKEN.join(', ')}`],
}

const { signal: _, ...sharedRules } = callRules

export const clientRules: Rules = {
  ...sharedRules,
  baseUrl: [() => true, ''],
  token: [() => true, ''],
  maxRetryAfterMs: [(value) => isTime(value) || value === 0, `${TIME}, or 0`],
  fetch: [isFunction, 'must be a function'],
  onEvent: [isFunction, 'must be a function'],
  appName: [
    (value) => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value),
    'must be printable ASCII',
  ],
}

/** @throws PlantStoreConfigError for a name that is no option, and for a value that cannot be one. */
export function checkOptions(options: unknown, rules: Rules): void {
  // Its own fields would all be unknown, but a signal has none.
  if (typeof options !== 'object' || options === null || options instanceof AbortSignal) {
    throw new PlantStoreConfigError('invalid_option', 'options', 'must be an object')
  }
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
    if (rule === undefined) {
      throw new PlantStoreConfigError('invalid_option', name, 'is not an option')
    }
    if (value !== undefined && !rule[0](value)) {
      throw new PlantStoreConfigError('invalid_option', name, rule[1])
    }
  }
}
