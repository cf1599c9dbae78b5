import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { logLinesIn, post, runToEnd } from '../process/server-process.ts'
import { loadedModules } from './loaded-modules.ts'
import { endAndCollect, startReceiver, startTraced } from './otlp-receiver.ts'

/** The modules of OpenTelemetry that a server loads. */
function modulesLoaded(environment: Readonly<Record<string, string>>): Promise<string[]> {
  // Without metrics, whose library loads OpenTelemetry's API by itself.
  return loadedModules('opentelemetry', { PLANT_STORE_OPERATIONS_LISTEN: 'off', ...environment })
}

const ENDPOINT = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:1' }

test.each([
  ['without an endpoint', {}],
  ['with a sampler alone', { OTEL_TRACES_SAMPLER: 'always_on' }],
  ['with an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['with an endpoint, where it is switched off', { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
])('%s nothing of OpenTelemetry is loaded', async (_how, environment) => {
  expect(await modulesLoaded(environment)).toEqual([])
})

test('with an endpoint its SDK is loaded', async () => {
  expect((await modulesLoaded(ENDPOINT)).length).toBeGreaterThan(5)
})

/** The caller's own trace, sampled (https://www.w3.org/TR/trace-context/#traceparent-header). */
const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('no token, body, query or foreign path is in anything that a collector is sent', async () => {
  const receiver = await startReceiver()
  const server = await startTraced(receiver)
  const secret = 'leak-of-a-secret'
  const other = server.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  const bodies = [
    JSON.stringify({ id: 77001177, name: secret }),
    JSON.stringify({ id: 77001177, name: `${secret} again` }),
    `{"id":77001177,"name":"${secret}"`,
    JSON.stringify({ id: secret, name: secret, [secret]: secret }),
  ]
  for (const body of bodies) {
    await post(server, { body })
    await post(server, { body, path: `/plants?access_token=${server.token}&${secret}` })
    await post(server, { body, path: `/${secret}/${server.token}` })
    await post(server, { body, headers: { authorization: `Bearer ${other}` } })
    await post(server, { body, headers: { authorization: `Bearer ${secret}` } })
    await post(server, { body, headers: { 'user-agent': secret, cookie: secret, referer: secret } })
    await post(server, { body, headers: { 'x-request-id': `Bearer_${server.token}` } })
    const tracestate = `caller=${server.token.toUpperCase()}`
    await post(server, { body, headers: { traceparent: PARENT, tracestate } })
  }
  const caller = connect(server.port, '127.0.0.1')
  caller.end(`POST /plants HTTP/1.1\r\nhost: ${secret}\r\nhost: ${secret}\r\n\r\n`).resume()
  await once(caller, 'close')

  const spans = await endAndCollect(server, receiver)
  expect(spans.filter(({ parentSpanId }) => !parentSpanId)).toHaveLength(29)
  expect(spans.filter(({ traceId }) => PARENT.includes(traceId))).toHaveLength(4)
  const [, , publicId = '', secretPart = ''] = /^(plant)_([^_]+)_(.+)$/.exec(server.token) ?? []
  expect(secretPart.length).toBeGreaterThan(30)
  for (const text of [...receiver.bodies, JSON.stringify(receiver.headers)]) {
    for (const leak of [secret, secretPart, publicId, '77001177']) {
      expect(text.toLowerCase()).not.toContain(leak.toLowerCase())
    }
  }
})

test('what a collector refuses is in the log, without the headers for the collector', async () => {
  const server = await startTraced(await startReceiver({ status: 400 }), {
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=secret-of-the-collector',
  })
  expect((await post(server)).status).toBe(200)
  const { code, err } = await server.end()
  expect(code).toBe(0)
  expect(logLinesIn(err).filter(({ msg }) => /^spans were/.test(String(msg)))).toMatchObject([
    { level: 'warn' },
  ])
  expect(err).not.toContain('secret-of-the-collector')
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
