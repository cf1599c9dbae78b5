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
import type { Authenticate } from '../../auth/authenticate.ts'
import { withoutCredentials } from '../../text/without-credentials.ts'

/** A request whose trace is recorded. */
export interface TracedRequest {
  readonly span: Span
  /** What performance.now() lacks of the time since 1970, in ms, read once for all its spans. */
  readonly clockOffsetMs: number
}

/** The request that is handled now; nothing while its trace is not recorded. */
export const tracedRequest = new AsyncLocalStorage<TracedRequest>()

/**
 * A moment of performance.now() as the time since 1970, in ms. The SDK's own times read the wall
 * clock for each span, which may be set between two of them: inner spans would leave the outer.
 */
export function timeWithin(request: TracedRequest, moment = performance.now()): number {
  return moment + request.clockOffsetMs
}

/** https://www.w3.org/TR/trace-context/; a header that is malformed counts as none. */
const propagator = new W3CTraceContextPropagator()

/** A caller's headers without a credential in them: `tracestate` goes into each span as it came. */
const cleanHeaders: TextMapGetter<IncomingHttpHeaders> = {
  keys: (headers) => Object.keys(headers),
  get(headers, name) {
    const value = headers[name]
    if (value === undefined) return undefined
    return [value].flat().some((line) => withoutCredentials(line) !== line) ? undefined : value
  },
}

/** The methods that the conventions name; another could be any text (semantic conventions, HTTP). */
const METHODS = /^(?:CONNECT|DELETE|GET|HEAD|OPTIONS|PATCH|POST|PUT|TRACE)$/

const ROUTE = contract.createPlant.path

/**
 * What is known of a request before it is checked. A path that is not the service's own may hold
 * anything, and is left out, as is the query.
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

/** Ends a request's span with how it was answered; the caller may have gone before. */
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
  // By the conventions a refusal is the caller's error and not the server's.
  if (status === undefined || status >= 500) {
    span.setAttribute('error.type', errorName ?? 'caller_gone')
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end(timeWithin(request))
}

/** First of all in an app: a span for each request, in the trace that its caller names. */
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

/** A span within a request's, from now on. */
export function startInnerSpan(tracer: Tracer, name: string, request: TracedRequest): Span {
  const startTime = timeWithin(request)
  return tracer.startSpan(name, { startTime }, trace.setSpan(ROOT_CONTEXT, request.span))
}

/** Gives a span the error that ended it, by its class alone. */
export function failSpan(span: Span, error: unknown): void {
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The same check of a credential, with a span for each; nothing of the credential is in it. */
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
