import { contract, isRequestId } from '@plant-store/contract'
import { optionError } from './errors.ts'
import type { PlantStoreEvent } from './events.ts'
import { host, MAX_TIMER_MS, readEnvironment, runtime } from './host.ts'
import type { PlantStoreFetch } from './response.ts'
import { parseToken, type TokenFunction } from './token.ts'
import { VERSION } from './version.ts'

/** Options of one call; each stands above the client's own. Times are in milliseconds. */
export interface CreatePlantOptions {
  /** Ends the call at once, whatever it is doing, with the code `aborted`. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** For one request and its whole response, above 0; else `attempt_timeout`. Default: 10,000. */
  readonly timeoutMs?: number | undefined
  /** For the whole call, waits too; else `total_timeout`. Infinity for no end. Default: 60,000. */
  readonly totalTimeoutMs?: number | undefined
  /** Requests after the first; 0 means exactly one request. Default: 3. */
  readonly maxRetries?: number | undefined
  /** Headers to send besides the client's own, of which `user-agent` may be replaced. Default: none. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | Headers
    | readonly (readonly [name: string, value: string])[]
    | undefined
  /** The call's id in the server's log: 1 to 128 of `A-Z a-z 0-9 . _ -`. Default: a new UUID. */
  readonly requestId?: string | undefined
}

/** Options of a client; every one has a default, or comes from the environment. */
export interface PlantStoreClientOptions extends Omit<CreatePlantOptions, 'signal' | 'requestId'> {
  /** Where the server is; a path is kept. Default: the environment's PLANT_STORE_BASE_URL. */
  readonly baseUrl?: string | URL | undefined
  /** The token, or a function that gives one. Default: the environment's PLANT_STORE_TOKEN. */
  readonly token?: string | TokenFunction | undefined
  /**
   * Another fetch, for a proxy or a test. It may have sent more than it was asked to, so a refusal
   * that may pass leaves `applied` at `maybe`. Default: the global one at the time of the call.
   */
  readonly fetch?: PlantStoreFetch | undefined
  /** Called for each request, response, retry and failure; what it throws changes nothing. Default: none. */
  readonly onEvent?: ((event: PlantStoreEvent) => unknown) | undefined
}

/** A rule in words, and whether a value keeps it. */
const ruleOf = (rule: string, check: (value: unknown) => boolean) => ({ rule, check })

const ANY = ruleOf('', () => true)
const FUNCTION = ruleOf('must be a function', (value) => typeof value === 'function')
const TIME = ruleOf(
  `must be a number of milliseconds above 0 and up to ${MAX_TIMER_MS}`,
  (value) => Number.isFinite(value) && Number(value) > 0 && Number(value) <= MAX_TIMER_MS,
)
const timeOr = (other: number) =>
  ruleOf(`${TIME.rule}, or ${other}`, (value) => TIME.check(value) || value === other)
const integerFrom = (least: number) =>
  ruleOf(
    `must be an integer of ${least} or more`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least,
  )
const isSignal = (value: unknown) => 'addEventListener' in Object(value)
const REQUEST_ID = ruleOf(
  'must be 1 to 128 characters of A-Z a-z 0-9 . _ -',
  (value) => typeof value === 'string' && isRequestId(value),
)

/** What the client itself says, and what is the runtime's to say of a connection and a body. */
const NOT_TAKEN = `${Object.keys(contract.createPlant.headers).join(', ')}, connection, \
content-length, expect, host, keep-alive, te, trailer, transfer-encoding, upgrade`

/** Headers under their names in lower case, in which they replace each other. */
function lowerNames(headers: CreatePlantOptions['headers']): Record<string, string> {
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

/** Where an option may be given. */
type Place = 'client' | 'call' | 'bulk'
const EVERYWHERE: readonly Place[] = ['client', 'call', 'bulk']
type Option = ReturnType<typeof ruleOf> & { at: readonly Place[]; initial?: number }

/** Every option: where it may be given, what it must be, and its default where that is a number. */
export const optionTable = {
  baseUrl: { ...ANY, at: ['client'] },
  token: { ...ANY, at: ['client'] },
  timeoutMs: { ...TIME, at: EVERYWHERE, initial: 10_000 },
  totalTimeoutMs: { ...timeOr(Number.POSITIVE_INFINITY), at: EVERYWHERE, initial: 60_000 },
  maxRetries: { ...integerFrom(0), at: EVERYWHERE, initial: 3 },
  headers: { check: isHeaders, rule: `must hold strings, without ${NOT_TAKEN}`, at: EVERYWHERE },
  fetch: { ...FUNCTION, at: ['client'] },
  onEvent: { ...FUNCTION, at: ['client'] },
  signal: { ...ruleOf('must be an AbortSignal', isSignal), at: ['call', 'bulk'] },
  requestId: { ...REQUEST_ID, at: ['call'] },
  // 2 cores were kept busy by 16 calls; slower networks gain from more.
  concurrency: { ...integerFrom(1), at: ['bulk'], initial: 16 },
  // Enough for a restart of a machine.
  maxOutageMs: { ...timeOr(0), at: ['bulk'], initial: 300_000 },
} satisfies Record<string, Option>

const options = new Map<string, Option>(Object.entries(optionTable))

/** @throws PlantStoreError for a name that is no option there, and for a value that cannot be one. */
export function checkOptions(given: unknown, place: Place): void {
  // Its own fields would all be unknown, but a signal has none.
  if (typeof given !== 'object' || given === null || given instanceof AbortSignal) {
    throw optionError('options', 'must be an object')
  }
  for (const [name, value] of Object.entries(given)) {
    const option = options.get(name)
    if (!option?.at.includes(place)) throw optionError(name, 'is not an option')
    if (value !== undefined && !option.check(value)) throw optionError(name, option.rule)
  }
}

function parseBaseUrl(given: unknown): URL {
  const text = given instanceof URL ? given.href : given
  // URL.parse is missing in Node 20.
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const isUsable = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(url.href)
  if (!isUsable || url.username + url.password !== '') {
    const isMissing = text === undefined || text === ''
    const missing = 'is missing: give it, or set PLANT_STORE_BASE_URL'
    const wrong = 'must be an http or https URL without user, query or fragment'
    throw optionError('baseUrl', isMissing ? missing : wrong, 'invalid_base_url')
  }
  url.pathname = url.pathname.replace(/\/+$/, '') + contract.createPlant.path
  return url
}

/** The User-Agent (RFC 9110 §10.1.5), such as `plant-store-client/1.0.0 node/24`; browsers have their own. */
const USER_AGENT = runtime && {
  'user-agent': `plant-store-client/${VERSION} ${runtime}/${host.process?.versions?.[runtime]?.split('.', 1)}`,
}

/** The options of a client, with their defaults. @throws PlantStoreError for those that cannot work */
export function toSettings(options: PlantStoreClientOptions) {
  checkOptions(options, 'client')
  const { baseUrl = readEnvironment('PLANT_STORE_BASE_URL') } = options
  const { token = readEnvironment('PLANT_STORE_TOKEN') } = options
  const { timeoutMs, totalTimeoutMs, maxRetries } = optionTable
  return {
    url: parseBaseUrl(baseUrl),
    token: parseToken(token),
    timeoutMs: options.timeoutMs ?? timeoutMs.initial,
    totalTimeoutMs: options.totalTimeoutMs ?? totalTimeoutMs.initial,
    maxRetries: options.maxRetries ?? maxRetries.initial,
    fetch: options.fetch,
    onEvent: options.onEvent,
    headers: { ...USER_AGENT, ...lowerNames(options.headers) },
  }
}

export type Settings = Readonly<ReturnType<typeof toSettings>>

/** The settings of a call, whose checked options stand above the client's. */
export function toCallSettings(settings: Settings, options: CreatePlantOptions): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const headers = { ...settings.headers, ...lowerNames(options.headers) }
  return { ...settings, ...Object.fromEntries(given), headers }
}
