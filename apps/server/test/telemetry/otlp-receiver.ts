import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished } from 'vitest'
import { type ServerProcess, startServerProcess } from '../process/server-process.ts'

/** A value of OTLP in JSON (opentelemetry-proto, common.proto AnyValue). */
interface AnyValue {
  readonly stringValue?: string
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly boolValue?: boolean
}

/** A span as it came over the wire (opentelemetry-proto, trace.proto Span). */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1 internal, 2 server. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { readonly key: string; readonly value: AnyValue }[]
  /** Code 2 is an error. */
  readonly status: { readonly code: number }
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ReceivedSpan['attributes'] }
    readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[]
  }[]
}

export interface OtlpReceiver {
  readonly url: string
  /** Every body that was received, as text. */
  readonly bodies: readonly string[]
  readonly headers: readonly IncomingHttpHeaders[]
  spans(): ReceivedSpan[]
  /** The attributes of what sent the spans. */
  resource(): Record<string, unknown>
}

/** Attributes as a plain object; whole numbers as numbers. */
export function attributesOf({
  attributes,
}: Pick<ReceivedSpan, 'attributes'>): Record<string, unknown> {
  const toValue = ({ stringValue, intValue, doubleValue, boolValue }: AnyValue) =>
    stringValue ?? doubleValue ?? boolValue ?? Number(intValue)
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]))
}

/** An OTLP receiver over HTTP with JSON; one that never answers where `isSilent`. */
export async function startReceiver({
  isSilent = false,
  status = 200,
} = {}): Promise<OtlpReceiver> {
  const bodies: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer(async (request, response) => {
    if (isSilent) return
    headers.push(request.headers)
    const chunks = await request.toArray()
    bodies.push(Buffer.concat(chunks).toString())
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const exports = () => bodies.map((body): Export => JSON.parse(body))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    headers,
    spans: () =>
      exports().flatMap(({ resourceSpans }) =>
        resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
      ),
    resource: () => {
      const [first] = exports().flatMap(({ resourceSpans }) => resourceSpans)
      return first === undefined ? {} : attributesOf(first.resource)
    },
  }
}

/** A server that sends its spans to a receiver. */
export async function startTraced(
  receiver: Pick<OtlpReceiver, 'url'>,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return startServerProcess({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...environment },
  })
}

/** Every span that the server sent, the last ones at its end. */
export async function endAndCollect(
  server: ServerProcess,
  receiver: OtlpReceiver,
): Promise<ReceivedSpan[]> {
  expect(await server.end()).toMatchObject({ code: 0, signal: null })
  return receiver.spans()
}
