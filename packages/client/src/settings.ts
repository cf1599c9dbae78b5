import { optionError } from './errors.ts'
import { host, readEnvironment } from './host.ts'
import {
  type CreatePlantOptions,
  checkOptions,
  lowerNames,
  optionTable,
  type PlantStoreClientOptions,
} from './options.ts'
import { TokenSource } from './token.ts'
import { VERSION } from './version.ts'

const NO_BASE_URL = 'is missing: give it, or set PLANT_STORE_BASE_URL'
const BASE_URL = 'must be an http or https URL without user, query or fragment'

function parseBaseUrl(given: unknown): URL {
  const text = given instanceof URL ? given.href : given
  // URL.parse is missing in Node 20.
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  const isUsable = url && /^https?:$/.test(url.protocol) && !/[?#]/.test(url.href)
  if (isUsable && url.username + url.password === '') return url
  const isMissing = text === undefined || text === ''
  throw optionError('baseUrl', isMissing ? NO_BASE_URL : BASE_URL, 'invalid_base_url')
}

/**
 * The User-Agent (RFC 9110 §10.1.5), such as `plant-store-client/1.0.0 node/24 garden`; none in
 * browsers, which send their own.
 */
function describeUserAgent(appName: string | undefined): Record<string, string> {
  const versions = host.process?.versions ?? {}
  const runtime = ['bun', 'deno', 'node'].find((name) => versions[name] !== undefined)
  if (runtime === undefined) return {}
  const [major] = (versions[runtime] ?? '').split('.')
  const app = appName === undefined ? '' : ` ${appName}`
  return { 'user-agent': `plant-store-client/${VERSION} ${runtime}/${major}${app}` }
}

/**
 * The options of a client, checked, with their defaults.
 * @throws PlantStoreError for options that cannot work.
 */
export function toSettings(options: PlantStoreClientOptions) {
  checkOptions(options, 'client')
  const { baseUrl = readEnvironment('PLANT_STORE_BASE_URL') } = options
  const { token = readEnvironment('PLANT_STORE_TOKEN') } = options
  const { timeoutMs, totalTimeoutMs, maxRetries, maxRetryAfterMs } = optionTable
  return {
    baseUrl: parseBaseUrl(baseUrl),
    tokens: new TokenSource(token),
    timeoutMs: options.timeoutMs ?? timeoutMs.initial,
    totalTimeoutMs: options.totalTimeoutMs ?? totalTimeoutMs.initial,
    maxRetries: options.maxRetries ?? maxRetries.initial,
    maxRetryAfterMs: options.maxRetryAfterMs ?? maxRetryAfterMs.initial,
    fetch: options.fetch,
    onEvent: options.onEvent,
    headers: { ...describeUserAgent(options.appName), ...lowerNames(options.headers) },
  } as const
}

export type Settings = Readonly<ReturnType<typeof toSettings>>

/** The settings of a call, whose checked options stand above the client's. */
export function toCallSettings(settings: Settings, options: CreatePlantOptions): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const headers = { ...settings.headers, ...lowerNames(options.headers) }
  return { ...settings, ...Object.fromEntries(given), headers }
}
