import { describe, expect, test } from 'vitest'
import { logLinesIn, plantText, post, type Sent } from '../process/server-process.ts'
import {
  attributesOf,
  endAndCollect,
  type ReceivedSpan,
  startReceiver,
  startTraced,
} from './otlp-receiver.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PARENT_ID = 'b7ad6b7169203331'
const SERVER = 2
const ERROR = 2

test('the span of a create is in the trace that its caller names', async () => {
  const receiver = await startReceiver()
  const server = await startTraced(receiver, {
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
  })
  const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`
  await post(server, { headers: { traceparent, 'x-request-id': 'first' } })
  const [request, ...others] = (await endAndCollect(server, receiver)) as [ReceivedSpan]
  expect(others).toEqual([])
  expect(request).toMatchObject({
    ...{ name: 'POST /plants', kind: SERVER },
    ...{ traceId: TRACE_ID, parentSpanId: PARENT_ID },
  })
  const took = BigInt(request.endTimeUnixNano) - BigInt(request.startTimeUnixNano)
  expect(took).toBeGreaterThan(0n)
  expect(took).toBeLessThan(10_000_000_000n)
  expect(attributesOf(request)).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'http.route': '/plants',
    'network.protocol.version': '1.1',
    'plant_store.request_id': 'first',
    'plant_store.token_name': 'first-run',
    'url.path': '/plants',
    'url.scheme': 'http',
  })
  expect(receiver.resource()).toMatchObject({
    'service.name': 'plant-store',
    'deployment.environment.name': 'test',
  })
  expect(receiver.headers[0]).toMatchObject({ 'x-collector-key': 'abc' })
})

describe('the span of a request that is refused', () => {
  /** Sends the requests to one server, and returns the spans of them. */
  async function refuse(...requests: readonly Sent[]) {
    const receiver = await startReceiver()
    const server = await startTraced(receiver)
    for (const sent of requests) await post(server, sent)
    const spans = (await endAndCollect(server, receiver)).filter(({ kind }) => kind === SERVER)
    expect(spans).toHaveLength(requests.length)
    return { spans, log: logLinesIn((await server.ended).err) }
  }

  test('names its error, is no error of the server, and is found in the log by its trace', async () => {
    const { spans, log } = await refuse(
      { body: '{"id":1.5}' },
      { headers: { authorization: 'Basic x' } },
      { headers: { 'content-type': 'text/plain' } },
    )
    for (const [index, [status, error]] of [
      [400, 'invalid_plant'] as const,
      [401, 'missing_credentials'] as const,
      [415, 'unsupported_media_type'] as const,
    ].entries()) {
      const span = spans[index] as ReceivedSpan
      expect(span.status.code).not.toBe(ERROR)
      expect(attributesOf(span)).toMatchObject({
        'http.response.status_code': status,
        'plant_store.error': error,
      })
      expect(log.filter(({ traceId }) => traceId === span.traceId)).toMatchObject([{ error }])
    }
  })

  test('has no path but the service’s own, since another may hold anything', async () => {
    const [span] = (await refuse({ path: '/secret-path?secret-query' })).spans as [ReceivedSpan]
    expect(span.name).toBe('POST')
    expect(attributesOf(span)).toMatchObject({ 'http.response.status_code': 404 })
    expect(JSON.stringify(span)).not.toContain('secret')
  })
})

test('a traceparent that is malformed, names no trace or is there twice is ignored', async () => {
  const receiver = await startReceiver()
  const server = await startTraced(receiver)
  const headers = [
    '00-nonsense-01',
    `00-${'0'.repeat(32)}-${PARENT_ID}-01`,
    `ff-${TRACE_ID}-${PARENT_ID}-01`,
    `00-${TRACE_ID}-${PARENT_ID}-01, 00-${TRACE_ID}-${PARENT_ID}-01`,
  ]
  for (const traceparent of headers) {
    expect((await post(server, { headers: { traceparent } })).status).toBe(200)
  }
  const spans = await endAndCollect(server, receiver)
  const requests = spans.filter(({ name }) => name === 'POST /plants')
  expect(requests).toHaveLength(headers.length)
  for (const { traceId, parentSpanId } of requests) {
    expect(traceId).not.toBe(TRACE_ID)
    expect(parentSpanId || undefined).toBeUndefined()
  }
})

describe('the sampler', () => {
  const sampled = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` }
  const unsampled = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` }

  const off = { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  const none = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }

  test.each<[string, Record<string, string>, kept: Sent['headers'][], left: Sent['headers'][]]>([
    ['keeps all by default, but follows a caller that does not sample', {}, [{}], [unsampled]],
    ['follows a caller that samples, and leaves new traces out', off, [sampled], [{}]],
    ['keeps none', { OTEL_TRACES_SAMPLER: 'always_off' }, [], [sampled]],
    ['keeps all in any case', { OTEL_TRACES_SAMPLER: 'always_on' }, [unsampled], []],
    ['keeps a fraction', none, [], [{}]],
  ])('%s', async (_what, environment, kept, left) => {
    const receiver = await startReceiver()
    const server = await startTraced(receiver, environment)
    for (const [id, headers] of [...kept, ...left].entries()) {
      const sent = await post(server, { headers: { ...headers, 'x-request-id': `${id}` } })
      expect(sent.status).toBe(200)
    }
    const spans = await endAndCollect(server, receiver)
    expect(spans).toHaveLength(kept.length)
    const ids = spans.filter(({ kind }) => kind === SERVER).map(attributesOf)
    expect(ids.map((attributes) => attributes['plant_store.request_id'])).toEqual(
      kept.map((_headers, id) => `${id}`),
    )
  })
})

test('a collector that does not answer holds up neither a create nor the end', {
  timeout: 30_000,
}, async () => {
  const server = await startTraced(await startReceiver({ isSilent: true }))
  // More than the queue holds.
  for (let id = 0; id < 4_500; id += 50) {
    const burst = Array.from({ length: 50 }, (_, index) =>
      post(server, { body: plantText(id + index) }),
    )
    for (const { status } of await Promise.all(burst)) expect(status).toBe(200)
  }
  const asked = performance.now()
  expect(await server.end()).toMatchObject({ code: 0, signal: null })
  expect(performance.now() - asked).toBeLessThan(8_000)
})
