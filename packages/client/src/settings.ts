import { describeUserAgent, type EnvironmentName, readEnvironment } from './environment.ts'
import { PlantStoreConfigError } from './errors/config-error.ts'
import type { PlantStoreEventListener } from './events.ts'
import { checkOptions, clientRules, lowerNames, type PlantStoreClientOptions } from './options.ts'
import { PACER, type PacedOptions, type Pacer } from './pacer.ts'
import { checkToken, createTokenSource, type TokenFunction, type TokenSource } from './token.ts'

/** The options of a client, checked, with their defaults. */
export interface Settings {
  readonly baseUrl: URL
  readonly tokens: TokenSource
  readonly timeoutMs: number
  readonly totalTimeoutMs: number
  readonly maxRetries: number
  readonly maxRetryAfterMs: number
  readonly fetch: typeof fetch | undefined
  readonly onEvent: PlantStoreEventListener | undefined
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** What holds for one call. */
export interface CallSettings extends Settings {
  readonly signal: AbortSignal | undefined
  readonly pacer: Pacer | undefined
}

const BASE_URL = 'must be an http or https URL without user, query or fragment'

function parseBaseUrl(text: unknown): URL {
  // URL.parse is missing in Node 20.
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const isUsable =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    !/[?#]/.test(url.href) &&
    url.username + url.password === ''
  if (!isUsable) throw new PlantStoreConfigError('invalid_base_url', 'baseUrl', BASE_URL)
  return url
}

function toTokenSource(token: unknown): TokenSource {
  if (typeof token === 'function') return createTokenSource(token as TokenFunction)
  if (token !== undefined && token !== '') return createTokenSource(checkToken(token))
  const rule = 'is missing: give it, or set PLANT_STORE_TOKEN'
  throw new PlantStoreConfigError('missing_token', 'token', rule)
}

function given(option: unknown, name: EnvironmentName): unknown {
  return option === undefined ? readEnvironment(name) : option
}

/**
 * The settings of a client.
 * @throws PlantStoreConfigError for options that cannot work.
 */
export function toSettings(options: PlantStoreClientOptions): Settings {
  checkOptions(options, clientRules)
  const userAgent = describeUserAgent(options.appName)
  return {
    baseUrl: parseBaseUrl(given(options.baseUrl, 'PLANT_STORE_BASE_URL')),
    tokens: toTokenSource(given(options.token, 'PLANT_STORE_TOKEN')),
    timeoutMs: options.timeoutMs ?? 10_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 3,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 30_000,
    fetch: options.fetch,
    onEvent: options.onEvent,
    headers: { ...(userAgent && { 'user-agent': userAgent }), ...lowerNames(options.headers) },
  }
}

/** The settings of a call, whose checked options stand above the client's. */
export function toCallSettings(settings: Settings, options: PacedOptions): CallSettings {
  return {
    ...settings,
    timeoutMs: options.timeoutMs ?? settings.timeoutMs,
    totalTimeoutMs: options.totalTimeoutMs ?? settings.totalTimeoutMs,
    maxRetries: options.maxRetries ?? settings.maxRetries,
    headers: { ...settings.headers, ...lowerNames(options.headers) },
    signal: options.signal,
    pacer: options[PACER],
  }
}
