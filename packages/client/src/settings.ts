import { optionError } from './errors.ts'
import {
  type CreatePlantOptions,
  checkOptions,
  clientRules,
  lowerNames,
  type PlantStoreClientOptions,
} from './options.ts'
import { host, readEnvironment } from './runtime.ts'
import { createTokenSource } from './token.ts'
import { VERSION } from './version.ts'

const NO_BASE_URL = 'is missing: give it, or set PLANT_STORE_BASE_URL'
const BASE_URL = 'must be an http or https URL without user, query or fragment'

function parseBaseUrl(given: unknown): URL {
  const text = given instanceof URL ? given.href : given
  if (text === undefined || text === '') {
    throw optionError('invalid_base_url', 'baseUrl', NO_BASE_URL)
  }
  // URL.parse is missing in Node 20.
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const isUsable = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(url.href)
  if (isUsable && url.username + url.password === '') return url
  throw optionError('invalid_base_url', 'baseUrl', BASE_URL)
}

/**
 * The User-Agent (RFC 9110 §10.1.5), such as `plant-store-client/1.0.0 node/24 garden`;
 * undefined in browsers, which send their own.
 */
function describeUserAgent(appName: string | undefined): string | undefined {
  const versions = host.process?.versions ?? {}
  const runtime = ['bun', 'deno', 'node'].find((name) => versions[name] !== undefined)
  if (runtime === undefined) return undefined
  const [major] = (versions[runtime] ?? '').split('.')
  const app = appName === undefined ? '' : ` ${appName}`
  return `plant-store-client/${VERSION} ${runtime}/${major}${app}`
}

/**
 * The options of a client, checked, with their defaults.
 * @throws PlantStoreError for options that cannot work.
 */
export function toSettings(options: PlantStoreClientOptions) {
  checkOptions(options, clientRules)
  const userAgent = describeUserAgent(options.appName)
  const { baseUrl = readEnvironment('PLANT_STORE_BASE_URL') } = options
  const { token = readEnvironment('PLANT_STORE_TOKEN') } = options
  return {
    baseUrl: parseBaseUrl(baseUrl),
    tokens: createTokenSource(token),
    timeoutMs: options.timeoutMs ?? 10_000,
    totalTimeoutMs: options.totalTimeoutMs ?? 60_000,
    maxRetries: options.maxRetries ?? 3,
    maxRetryAfterMs: options.maxRetryAfterMs ?? 30_000,
    fetch: options.fetch,
    onEvent: options.onEvent,
    headers: { ...(userAgent && { 'user-agent': userAgent }), ...lowerNames(options.headers) },
  } as const
}

export type Settings = Readonly<ReturnType<typeof toSettings>>

/** The settings of a call, whose checked options stand above the client's. */
export function toCallSettings(settings: Settings, options: CreatePlantOptions): Settings {
  return {
    ...settings,
    timeoutMs: options.timeoutMs ?? settings.timeoutMs,
    totalTimeoutMs: options.totalTimeoutMs ?? settings.totalTimeoutMs,
    maxRetries: options.maxRetries ?? settings.maxRetries,
    headers: { ...settings.headers, ...lowerNames(options.headers) },
  }
}
