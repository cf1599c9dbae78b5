import { DiagLogLevel, diag } from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { RequestHandler } from 'express'
import type { Logger } from 'pino'
import type { Authenticate } from '../../auth/authenticate.ts'
import type { TracesConfig } from '../../settings/traces-config.ts'
import { type CommitSpans, createCommitSpans } from './commit-spans.ts'
import { traceCredentials, traceRequests } from './request-spans.ts'

/** What the parts of the server are given so that their work is seen in traces. */
export interface Tracing extends CommitSpans {
  readonly traceRequest: RequestHandler
  traceCredentials(authenticate: Authenticate): Authenticate
  /** Sends what is left; rejects never, and may take as long as the collector does. */
  shutdown(): Promise<void>
}

/** Spans that wait to be sent; more are dropped, so that a dead collector costs no more memory. */
const QUEUE_LIMIT = 4_096
const SENT_TOGETHER = 512

/** A commit links to each request that it carried; no batch is larger. */
const MAX_LINKS = 1_024

/** A collector that is away is told of so often. */
const TELL_INTERVAL_MS = 60_000
const LONGEST_REASON = 300

function createSampler({ sampler, ratio }: TracesConfig): Sampler {
  if (sampler.endsWith('always_off')) return new AlwaysOffSampler()
  return sampler.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(ratio)
    : new AlwaysOnSampler()
}

/** Sends what the SDK complains of to the log, one line a minute. */
function logProblems(log: Logger): void {
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = (problem: unknown) => {
    if (performance.now() < toldAt + TELL_INTERVAL_MS) return
    toldAt = performance.now()
    const reason = problem instanceof Error ? problem.message : String(problem)
    log.warn({ reason: reason.slice(0, LONGEST_REASON) }, 'spans were not sent')
  }
  const ignore = () => {}
  diag.setLogger(
    { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  )
  setGlobalErrorHandler(tell)
}

/** Loads the SDK and sends spans from now on; headers and time-outs are OTEL_EXPORTER_OTLP_*. */
export function startTracing(config: TracesConfig, log: Logger): Tracing {
  logProblems(log)
  const root = createSampler(config)
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'plant-store' }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: config.sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root,
    spanLimits: { linkCountLimit: MAX_LINKS },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: config.url }),
        maxQueueSize: QUEUE_LIMIT,
        maxExportBatchSize: SENT_TOGETHER,
      }),
    ],
  })
  const tracer = provider.getTracer('plant-store')
  return {
    ...createCommitSpans(tracer),
    traceRequest: traceRequests(tracer),
    traceCredentials: (authenticate) => traceCredentials(tracer, authenticate),
    shutdown: () =>
      provider.shutdown().catch((error) => log.warn({ reason: String(error) }, 'spans were lost')),
  }
}
