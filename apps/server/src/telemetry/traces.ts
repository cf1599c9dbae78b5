import type { IncomingHttpHeaders } from 'node:http'
import {
  type Attributes,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api'
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core'
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
import { contract } from '@plant-store/contract'
import type { Request, RequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import type { TracesConfig } from '../config/traces-config.ts'
import { withoutCredentials } from '../text/without-credentials.ts'

export interface Tracing {
  /** Makes a span for each request, in the trace that its caller names; the first handler of an app. */
  readonly traceRequest: RequestHandler
  /** Sends the spans that are left; never rejects, and takes as long as the collector. */
  shutdown(): Promise<void>
}

/** Most spans that wait to be sent; more are dropped, which bounds the memory of a dead collector. */
const QUEUE_LIMIT = 4_096
const SENT_TOGETHER = 512

/** At most one line of the log in this time: a collector may be away for long. */
const REPORT_INTERVAL_MS = 60_000
const LONGEST_REASON = 300

/** https://www.w3.org/TR/trace-context/; a malformed header counts as none. */
const propagator = new W3CTraceContextPropagator()

/** A caller's headers, but none with a credential: `tracestate` goes into each span unchanged. */
const cleanHeaders: TextMapGetter<IncomingHttpHeaders> = {
  keys: (headers) => Object.keys(headers),
  get(headers, name) {
    const lines = [headers[name] ?? []].flat()
    return lines.some((line) => withoutCredentials(line) !== line) ? undefined : headers[name]
  },
}

/** The methods that the semantic conventions for HTTP name; another one could be any text. */
const METHODS = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/

const ROUTE = contract.createPlant.path

/**
 * The name and attributes of a request before it is checked. The query, and every path but the
 * service's own, are left out: they may hold anything.
 */
function describeRequest(request: Request): { name: string; attributes: Attributes } {
  const isKnown = METHODS.test(request.method)
  const attributes: Attributes = {
    'http.request.method': isKnown ? request.method : '_OTHER',
    'network.protocol.version': request.httpVersion,
    'url.scheme': 'http',
  }
  const method = isKnown ? request.method : 'HTTP'
  if (request.path !== ROUTE) return { name: method, attributes }
  attributes['http.route'] = ROUTE
  attributes['url.path'] = ROUTE
  return { name: `${method} ${ROUTE}`, attributes }
}

/** Says how a request was answered, if its caller did not go away before. */
function describeResponse(span: Span, response: Response): void {
  const { requestId, tokenName, outcome } = response.locals
  const status = response.headersSent ? response.statusCode : undefined
  const errorName = status !== undefined && status >= 400 ? outcome : undefined
  if (requestId !== undefined) span.setAttribute('plant_store.request_id', requestId)
  if (tokenName !== undefined) {
    span.setAttribute('plant_store.token_name', withoutCredentials(tokenName))
  }
  if (errorName !== undefined) span.setAttribute('plant_store.error', errorName)
  if (status !== undefined) span.setAttribute('http.response.status_code', status)
  // The conventions count a 4xx as the caller's error.
  if (status === undefined || status >= 500) {
    span.setAttribute('error.type', errorName ?? 'caller_gone')
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
}

function traceRequests(tracer: Tracer): RequestHandler {
  return (request, response, next) => {
    const caller = propagator.extract(ROOT_CONTEXT, request.headers, cleanHeaders)
    const { name, attributes } = describeRequest(request)
    const startTime = Date.now()
    const startedAt = performance.now()
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes }, caller)
    if (span.isRecording()) {
      response.locals.traceId = span.spanContext().traceId
      response.once('close', () => {
        describeResponse(span, response)
        // Somebody may have set the wall clock meanwhile.
        span.end(startTime + performance.now() - startedAt)
      })
    }
    next()
  }
}

function createSampler({ sampler, ratio }: TracesConfig): Sampler {
  const isRatio = sampler.endsWith('traceidratio')
  const always = sampler.endsWith('always_off') ? new AlwaysOffSampler() : new AlwaysOnSampler()
  const root = isRatio ? new TraceIdRatioBasedSampler(ratio) : always
  return sampler.startsWith('parentbased') ? new ParentBasedSampler({ root }) : root
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
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'plant-store' }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(config),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: config.url }),
        maxQueueSize: QUEUE_LIMIT,
        maxExportBatchSize: SENT_TOGETHER,
      }),
    ],
  })
  return {
    traceRequest: traceRequests(provider.getTracer('plant-store')),
    shutdown: () =>
      provider.shutdown().catch((error) => log.warn({ reason: String(error) }, 'spans were lost')),
  }
}
