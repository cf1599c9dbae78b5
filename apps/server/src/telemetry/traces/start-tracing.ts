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
import type { Authenticate } from '../../auth/bearer.ts'
import type { TracesConfig } from '../../config/traces-config.ts'
import { type CommitSpans, createCommitSpans } from './commit-spans.ts'
import { traceCredentials, traceRequests } from './request-spans.ts'

/** Hooks for the parts of the server whose work is shown in traces. */
export interface Tracing extends CommitSpans {
  readonly traceRequest: RequestHandler
  traceCredentials(authenticate: Authenticate): Authenticate
  /** Sends the spans that are left; never rejects, and takes as long as the collector. */
  shutdown(): Promise<void>
}

/** Most spans that wait to be sent; more are dropped, which bounds the memory of a dead collector. */
const QUEUE_LIMIT = 4_096
const SENT_TOGETHER = 512

/** As many as one commit takes: it links to each of its requests. */
const MAX_LINKS = 1_024

/** At most one line of the log in this time: a collector may be away for long. */
const REPORT_INTERVAL_MS = 60_000
const LONGEST_REASON = 300

function createSampler({ sampler, ratio }: TracesConfig): Sampler {
  if (sampler.endsWith('always_off')) return new AlwaysOffSampler()
  return sampler.endsWith('traceidratio')
    ? new TraceIdRatioBasedSampler(ratio)
    : new AlwaysOnSampler()
}

/** Logs problems of the SDK, at most one line a minute. */
function logProblems(log: Logger): void {
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = (problem: unknown) => {
    if (performance.now() < reportedAt + REPORT_INTERVAL_MS) return
    reportedAt = performance.now()
    const reason = problem instanceof Error ? problem.message : String(problem)
    log.warn({ reason: reason.slice(0, LONGEST_REASON) }, 'spans were not sent')
  }
  const ignore = () => {}
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  )
  setGlobalErrorHandler(report)
}

/** Sends spans from now on; the SDK reads headers and time-outs from OTEL_EXPORTER_OTLP_*. */
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
