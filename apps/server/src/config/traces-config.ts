import type { Environment } from './settings.ts'

/** OpenTelemetry's names for the ways to choose which requests are traced. */
const samplerNames = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

type SamplerName = (typeof samplerNames)[number]

/** Where spans are sent, and which requests have them. */
export interface TracesConfig {
  /** The whole URL of an OTLP receiver over HTTP. */
  readonly url: string
  readonly sampler: SamplerName
  /** The fraction of new traces that are kept, for the samplers that take one. */
  readonly ratio: number
}

/** The variable for traces holds the whole URL; to the general one /v1/traces is added. */
const ENDPOINTS = [
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ''],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '/v1/traces'],
] as const

function isSwitchedOff(environment: Environment): boolean {
  return environment.OTEL_SDK_DISABLED === 'true' || environment.OTEL_TRACES_EXPORTER === 'none'
}

/**
 * Where OpenTelemetry's own variables send spans; undefined, the default, sends none. An empty
 * variable counts as unset. Wrong variables are added to `problems`.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTracesConfig(
  environment: Environment,
  problems: string[],
): TracesConfig | undefined {
  const [variable, addedPath] = ENDPOINTS.find(([name]) => environment[name]) ?? []
  if (variable === undefined || isSwitchedOff(environment)) return undefined

  const url = (environment[variable] ?? '').replace(addedPath === '' ? '' : /\/+$/, '') + addedPath
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    problems.push(`${variable}: must be a URL, such as http://127.0.0.1:4318`)
  }
  const name = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const sampler = samplerNames.find((known) => known === name)
  if (sampler === undefined) {
    problems.push(`OTEL_TRACES_SAMPLER: must be one of ${samplerNames.join(', ')}`)
  }
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1')
  if (!(ratio >= 0 && ratio <= 1)) {
    problems.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1')
  }
  return { url, sampler: sampler ?? 'always_off', ratio }
}
