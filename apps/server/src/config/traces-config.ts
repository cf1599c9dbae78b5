import type { Environment } from './settings.ts'

/** Where spans are sent, and which requests have them. */
export interface TracesConfig {
  /** The whole URL of an OTLP receiver over HTTP. */
  readonly url: string
  /** One of SAMPLERS. */
  readonly sampler: string
  /** The fraction of new traces that are kept, for the samplers that take one. */
  readonly ratio: number
}

/** OpenTelemetry's names for the ways to choose which requests are traced. */
const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [
  name,
  `parentbased_${name}`,
])

/** The variable for traces holds the whole URL; to the general one a path is added. */
function urlOf(environment: Environment): string | undefined {
  const general = environment.OTEL_EXPORTER_OTLP_ENDPOINT
  const added = general && `${general.replace(/\/+$/, '')}/v1/traces`
  return environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || added
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
  const { OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment
  const url = urlOf(environment)
  if (!url || OTEL_SDK_DISABLED === 'true' || OTEL_TRACES_EXPORTER === 'none') return undefined
  const sampler = environment.OTEL_TRACES_SAMPLER || 'parentbased_always_on'
  const ratio = Number(environment.OTEL_TRACES_SAMPLER_ARG || '1')
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    problems.push('OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL, such as http://127.0.0.1:4318')
  }
  if (!SAMPLERS.includes(sampler)) {
    problems.push(`OTEL_TRACES_SAMPLER: must be one of ${SAMPLERS.join(', ')}`)
  }
  if (!(ratio >= 0 && ratio <= 1)) {
    problems.push('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1')
  }
  return { url, sampler, ratio }
}
