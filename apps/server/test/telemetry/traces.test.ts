import { describe, expect, test } from 'vitest'
import {
  clientWithoutRetries,
  createMany,
  logLinesIn,
  post,
  runToEnd,
  type Sent,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { loadedModules } from './loaded-modules.ts'
import {
  attributesOf,
  type OtlpReceiver,
  type ReceivedSpan,
  startReceiver,
} from './otlp-receiver.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const SERVER = 2
const ERROR = 2

const sampled = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
const unsampled = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` }

/** A server that sends its spans to a receiver. */
function startTraced({ url }: OtlpReceiver, environment: Record<string, string> = {}) {
  return startServerProcess({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment } })
}

/** Sends requests to a traced server, and gives the spans of them and the log. */
async function trace(requests: readonly Sent[], environment: Record<string, string> = {}) {
  const receiver = await startReceiver()
  const server = await startTraced(receiver, environment)
  const statuses: number[] = []
  for (const sent of requests) statuses.push((await post(server, sent)).status)
  // The last spans are sent at the end.
  const { code, err } = await server.end()
  expect(code).toBe(0)
  const spans = receiver.spans()
  expect(spans.filter(({ kind }) => kind !== SERVER)).toEqual([])
  return { spans, statuses, receiver, log: logLinesIn(err) }
}

test('the span of a create is in the trace that its caller names', async () => {
  const { spans, receiver } = await trace([{ headers: { ...sampled, 'x-request-id': 'first' } }], {
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
  })
  const [span, ...others] = spans as [ReceivedSpan]
  expect(others).toEqual([])
  expect(span).toMatchObject({ name: 'POST /plants', traceId: TRACE_ID, parentSpanId: PARENT_ID })
  const took = BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)
  expect(took).toBeGreaterThan(0n)
  expect(took).toBeLessThan(10_000_000_000n)
  expect(attributesOf(span)).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'http.route': '/plants',
    'network.protocol.version': '1.1',
    'plant_store.request_id': 'first',
    'plant_store.token_name': 'first-run',
    'url.path': '/plants',
    'url.scheme': 'http',
  })
  const resources = receiver.resources().map(({ resource }) => attributesOf(resource))
  const about = { 'service.name': 'plant-store', 'deployment.environment.name': 'test' }
  expect(resources).toEqual([expect.objectContaining(about)])
  expect(receiver.headers[0]).toMatchObject({ 'x-collector-key': 'abc' })
})

test('the span of a refused request names its error, is no error of the server, has no foreign path, and is found in the log by its trace', async () => {
  const refusals: [status: number, error: string, Sent][] = [
    [400, 'invalid_plant', { body: '{"id":1.5}' }],
    [401, 'missing_credentials', { headers: { authorization: 'Basic x' } }],
    [415, 'unsupported_media_type', { headers: { 'content-type': 'text/plain' } }],
    [404, 'not_found', { path: '/secret-path?secret-query' }],
  ]
  const { spans, log } = await trace(refusals.map(([, , sent]) => sent))
  expect(spans).toHaveLength(refusals.length)
  for (const [index, [status, error]] of refusals.entries()) {
    const span = spans[index] as ReceivedSpan
    expect(span.status.code).not.toBe(ERROR)
    expect(span.name).toBe(status === 404 ? 'POST' : 'POST /plants')
    expect(attributesOf(span)).toMatchObject({
      'http.response.status_code': status,
      'plant_store.error': error,
    })
    expect(log.filter(({ traceId }) => traceId === span.traceId)).toMatchObject([{ error }])
  }
  expect(JSON.stringify(spans)).not.toContain('secret')
})

test('a traceparent that is malformed, names no trace or is there twice is ignored', async () => {
  const headers = [
    '00-nonsense-01',
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `${sampled.traceparent}, ${sampled.traceparent}`,
  ]
  const { spans, statuses } = await trace(
    headers.map((traceparent) => ({ headers: { traceparent } })),
  )
  expect(statuses).toEqual(headers.map(() => 200))
  expect(spans).toHaveLength(headers.length)
  for (const { traceId, parentSpanId } of spans) {
    expect(traceId).not.toBe(TRACE_ID)
    expect(parentSpanId || undefined).toBeUndefined()
  }
})

describe('the sampler', () => {
  const off = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  const none = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }

  test.each<[string, Record<string, string>, kept: Sent['headers'][], left: Sent['headers'][]]>([
    ['keeps all by default, but follows a caller that does not sample', {}, [{}], [unsampled]],
    ['follows a caller that samples, and leaves new traces out', off, [sampled], [{}]],
    ['keeps none', { OTEL_TRACES_SAMPLER: 'always_off' }, [], [sampled]],
    ['keeps all in any case', { OTEL_TRACES_SAMPLER: 'always_on' }, [unsampled], []],
    ['keeps a fraction', none, [], [{}]],
  ])('%s', async (_what, environment, kept, left) => {
    const requests = [...kept, ...left].map((headers, id) => ({
      headers: { ...headers, 'x-request-id': `${id}` },
    }))
    const { spans, statuses } = await trace(requests, environment)
    expect(statuses).toEqual(requests.map(() => 200))
    const ids = spans.map((span) => attributesOf(span)['plant_store.request_id'])
    expect(ids).toEqual(kept.map((_headers, id) => `${id}`))
  })
})

test('a collector that does not answer holds up neither a create nor the end', async () => {
  const server = await startTraced(await startReceiver(0))
  // More than the queue holds.
  for (let from = 0; from < 4_500; from += 50) {
    await createMany({ client: clientWithoutRetries(server) }, 50, { from })
  }
  const asked = performance.now()
  expect(await server.end()).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - asked).toBeLessThan(8_000)
})

test('what a collector refuses is in the log, without the headers for the collector', async () => {
  const environment = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-of-the-collector' }
  const server = await startTraced(await startReceiver(400), environment)
  expect((await post(server)).status).toBe(200)
  const { code, err } = await server.end()
  expect(code).toBe(0)
  const reports = logLinesIn(err).filter(({ msg }) => /^spans were/.test(String(msg)))
  expect(reports).toMatchObject([{ level: 'warn' }])
  expect(err).not.toContain('secret-of-the-collector')
})

const ENDPOINT = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1' }

test.each<[how: string, isLoaded: boolean, environment: Record<string, string>]>([
  ['without an endpoint', false, {}],
  ['with a sampler alone', false, { OTEL_TRACES_SAMPLER: 'always_on' }],
  ['with an empty endpoint', false, { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['switched off', false, { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
  ['with the exporter none', false, { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
  ['with an endpoint', true, ENDPOINT],
])('%s the SDK of OpenTelemetry is loaded: %s', async (_how, isLoaded, environment) => {
  // Without metrics, whose library loads OpenTelemetry's API by itself.
  const all = { PLANT_STORE_OPERATIONS_LISTEN: 'off', ...environment }
  expect((await loadedModules('opentelemetry', all)).length > 0).toBe(isLoaded)
})

test('wrong variables of OpenTelemetry are named before a port opens', async () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '2',
  }
  const { code, err } = await runToEnd({ environment })
  expect(code).toBe(78)
  expect(err).toMatch(/OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL, such as/)
  expect(err).toMatch(/OTEL_TRACES_SAMPLER: must be one of always_on,/)
  expect(err).toMatch(/OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1/)
})
