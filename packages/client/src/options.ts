import { contract, isRequestId } from '@plant-store/contract'
import { optionError } from './errors.ts'
import type { PlantStoreEvent } from './events.ts'
import type { PlantStoreFetch } from './fetch.ts'
import { MAX_TIMER_MS } from './host.ts'
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

interface Rule {
  readonly check: (value: unknown) => boolean
  /** What a value must be, in words. */
  readonly rule: string
}

const ANY: Rule = { check: () => true, rule: '' }
const FUNCTION: Rule = { check: (value) => typeof value === 'function', rule: 'must be a function' }
const TIME: Rule = {
  check: (value) => typeof value === 'number' && value > 0 && value <= MAX_TIMER_MS,
  rule: `must be a number of milliseconds above 0 and up to ${MAX_TIMER_MS}`,
}
const timeOr = (other: number): Rule => ({
  check: (value) => TIME.check(value) || value === other,
  rule: `${TIME.rule}, or ${other}`,
})
const integerFrom = (least: number): Rule => ({
  check: (value) => Number.isSafeInteger(value) && Number(value) >= least,
  rule: `must be an integer of ${least} or more`,
})
const textOf = (isValid: (text: string) => boolean, rule: string): Rule => ({
  check: (value) => typeof value === 'string' && isValid(value),
  rule,
})

/** What the client itself says, and what is the runtime's to say of a connection and a body. */
const NOT_TAKEN = `${Object.keys(contract.createPlant.headers).join(', ')}, connection, \
content-length, expect, host, keep-alive, te, trailer, transfer-encoding, upgrade`

/** Headers under their names in lower case, in which they replace each other. */
export function lowerNames(headers: CreatePlantOptions['headers']): Record<string, string> {
  return headers === undefined ? {} : Object.fromEntries(new Headers(headers as HeadersInit))
}

function isHeaders(value: unknown): boolean {
  try {
    const names = Object.keys(lowerNames(value as Record<string, string>))
    const texts = Array.isArray(value) ? value.flat() : Object.values(Object(value))
    const areTexts = texts.every((text) => typeof text === 'string')
    return areTexts && !NOT_TAKEN.split(', ').some((name) => names.includes(name))
  } catch {
    return false
  }
}

const SIGNAL_MEMBERS = ['aborted', 'addEventListener', 'removeEventListener']
const isSignal = (value: unknown) => SIGNAL_MEMBERS.every((name) => name in Object(value))

/** Where an option may be given. */
type Place = 'client' | 'call' | 'bulk'
const EVERYWHERE: readonly Place[] = ['client', 'call', 'bulk']

/** Every option: where it may be given, what it must be, and its default where that is a number. */
export const optionTable = {
  baseUrl: { ...ANY, at: ['client'] },
  token: { ...ANY, at: ['client'] },
  timeoutMs: { ...TIME, at: EVERYWHERE, initial: 10_000 },
  totalTimeoutMs: { ...timeOr(Number.POSITIVE_INFINITY), at: EVERYWHERE, initial: 60_000 },
  maxRetries: { ...integerFrom(0), at: EVERYWHERE, initial: 3 },
  maxRetryAfterMs: { ...timeOr(0), at: ['client'], initial: 30_000 },
  headers: { check: isHeaders, rule: `must hold strings, without ${NOT_TAKEN}`, at: EVERYWHERE },
  fetch: { ...FUNCTION, at: ['client'] },
  onEvent: { ...FUNCTION, at: ['client'] },
  appName: {
    ...textOf((text) => /^[\x20-\x7e]+$/.test(text), 'must be printable ASCII'),
    at: ['client'],
  },
  signal: { check: isSignal, rule: 'must be an AbortSignal', at: ['call', 'bulk'] },
  requestId: {
    ...textOf(isRequestId, 'must be 1 to 128 characters of A-Z a-z 0-9 . _ -'),
    at: ['call'],
  },
  // 2 cores were kept busy by 16 calls; slower networks gain from more.
  concurrency: { ...integerFrom(1), at: ['bulk'], initial: 16 },
  // Enough for a restart of a machine.
  maxOutageMs: { ...timeOr(0), at: ['bulk'], initial: 300_000 },
  onProgress: { ...FUNCTION, at: ['bulk'] },
} satisfies Record<string, Rule & { at: readonly Place[]; initial?: number }>

/** @throws PlantStoreError for a name that is no option there, and for a value that cannot be one. */
export function checkOptions(options: unknown, place: Place): void {
  // Its own fields would all be unknown, but a signal has none.
  if (typeof options !== 'object' || options === null || options instanceof AbortSignal) {
    throw optionError('options', 'must be an object')
  }
  const table = new Map<string, Rule & { at: readonly string[] }>(Object.entries(optionTable))
  for (const [name, value] of Object.entries(options)) {
    const option = table.get(name)
    if (!option?.at.includes(place)) throw optionError(name, 'is not an option')
    if (value !== undefined && !option.check(value)) throw optionError(name, option.rule)
  }
}
