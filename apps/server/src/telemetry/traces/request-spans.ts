import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { contract } from '@plant-store/contract'
import type { Request, RequestHandler, Response } from 'express'
import type { Authenticate } from '../../auth/bearer.ts'
import { withoutCredentials } from '../../text/without-credentials.ts'

/** A request whose trace is recorded. */
export interface TracedRequest {
  readonly span: Span
  /** The difference between Unix time and performance.now(), in ms, read once for all its spans. */
  readonly clockOffsetMs: number
}

/** The request that is handled now, if its trace is recorded. */
export const tracedRequest = new AsyncLocalStorage<TracedRequest>()

/**
 * A moment of performance.now() as Unix time, in ms. The SDK would read the wall clock for each span:
 * if somebody sets the clock between two of them, inner spans leave the outer.
 */
export function timeWithin(request: TracedRequest, moment = performance.now()): number {
  return moment + request.clockOffsetMs
}

/** https://www.w3.org/TR/trace-context/; a malformed header counts as none. */
const propagator = new W3CTraceContextPropagator()

/** A caller's headers, but none with a credential: `tracestate` goes into each span unchanged. */
const cleanHeaders: TextMapGetter<IncomingHttpHeaders> = {
  keys: (headers) => Object.keys(headers),
  get(headers, name) {
    const value = headers[name]
    if (value === undefined) return undefined
    return [value].flat().some((line) => withoutCredentials(line) !== line) ? undefined : value
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

/** Ends the span of a request with its reply, if the caller did not go away before. */
function endRequestSpan(request: TracedRequest, response: Response): void {
  const { span } = request
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
  span.end(timeWithin(request))
}

/** A span for each request, in the trace that its caller names; to be the first handler of an app. */
export function traceRequests(tracer: Tracer): RequestHandler {
  return (request, response, next) => {
    const caller = propagator.extract(ROOT_CONTEXT, request.headers, cleanHeaders)
    const { name, attributes } = describeRequest(request)
    const startTime = Date.now()
    const clockOffsetMs = startTime - performance.now()
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, startTime, attributes }, caller)
    if (!span.isRecording()) {
      next()
      return
    }
    response.locals.traceId = span.spanContext().traceId
    const traced = { span, clockOffsetMs }
    response.once('close', () => endRequestSpan(traced, response))
    tracedRequest.run(traced, next)
  }
}

/** Starts a span inside that of a request. */
export function startInnerSpan(tracer: Tracer, name: string, request: TracedRequest): Span {
  const startTime = timeWithin(request)
  return tracer.startSpan(name, { startTime }, trace.setSpan(ROOT_CONTEXT, request.span))
}

/** Marks a span as failed, with the class of the error alone. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The same check of credentials, with a span for each, which holds nothing of the credential. */
export function traceCredentials(tracer: Tracer, authenticate: Authenticate): Authenticate {
  const traced = (...check: Parameters<Authenticate>) => {
    const request = tracedRequest.getStore()
    if (request === undefined) return authenticate(...check)
    const span = startInnerSpan(tracer, 'credential', request)
    const token = authenticate(...check)
    if (!(token instanceof Promise)) {
      span.end(timeWithin(request))
      return token
    }
    token.catch((error) => failSpan(span, error)).finally(() => span.end(timeWithin(request)))
    return token
  }
  return Object.assign(traced, { isKnown: authenticate.isKnown })
}
