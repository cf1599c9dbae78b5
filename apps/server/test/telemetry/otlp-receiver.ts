import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listen } from '../../../../test/listen.ts'

/** Attributes of OTLP in JSON (opentelemetry-proto, common.proto KeyValue). */
type Attributes = readonly {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}[]

/** A span as it came over the wire (opentelemetry-proto, trace.proto Span). */
export interface ReceivedSpan {
  readonly traceId: string
  readonly parentSpanId?: string
  readonly name: string
  /** 1 internal, 2 server. */
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Attributes
  /** Code 2 is an error. */
  readonly status: { readonly code: number }
}

/** What sent spans, with them. */
interface Resource {
  readonly resource: { readonly attributes: Attributes }
  readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[]
}

/** Attributes as a plain object; whole numbers as numbers. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>) {
  const toValue = ({ intValue, ...other }: Readonly<Record<string, unknown>>) =>
    intValue === undefined ? Object.values(other)[0] : Number(intValue)
  return Object.fromEntries(attributes.map(({ key, value }) => [key, toValue(value)]))
}

export type OtlpReceiver = Awaited<ReturnType<typeof startReceiver>>

/** An OTLP receiver over HTTP with JSON; one that never answers where the status is 0. */
export async function startReceiver(status = 200) {
  const bodies: string[] = []
  const headers: IncomingHttpHeaders[] = []
  const server = createServer(async (request, response) => {
    headers.push(request.headers)
    bodies.push(Buffer.concat(await request.toArray()).toString())
    if (status > 0) response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  })
  const resources = (): Resource[] => bodies.flatMap((body) => JSON.parse(body).resourceSpans)
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    /** Every body that was received, as text. */
    bodies,
    headers,
    resources,
    spans: () => resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  }
}
