import fc from 'fast-check'
import { body, bytes, header, INHERITED, line, mostly, TOKEN, value } from './parts.ts'

interface Request {
  readonly line: string
  readonly host: string
  readonly authorization: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** How often the last of the headers comes. */
  readonly times: number
  readonly framing: 'length' | 'chunked' | 'none'
  readonly body: string
}

/** One change of the bytes; `at` counts from the beginning, round and round. */
interface Fault {
  readonly at: number
  readonly remove: number
  readonly insert: string
}

/** What one connection does. */
export interface Input {
  readonly listener: 'service' | 'operations'
  /** Sent one after the other. Text is latin1, so that any byte can stand in it. */
  readonly packets: readonly string[]
  /** Half a close, a reset once all is sent, or a connection that is left open for a while. */
  readonly ending: 'finish' | 'reset' | 'leave'
}

const request: fc.Arbitrary<Request> = fc.record({
  line,
  host: mostly('a', 40, value),
  authorization: fc.constantFrom(
    '',
    `Bearer ${TOKEN}`,
    `Bearer ${TOKEN}`,
    'Bearer plant_a_b',
    'Basic a',
  ),
  headers: fc.array(header, { maxLength: 3 }),
  times: mostly(1, 60, fc.integer({ min: 2, max: 3_000 })),
  framing: fc.constantFrom('none', 'length', 'length', 'chunked'),
  body,
})

const PIECES = [
  '\0',
  '\r',
  '\n',
  '\r\n',
  '\r\n\r\n',
  '\r\n ',
  ':',
  ' ',
  '\t',
  ';',
  ',',
  '0\r\n\r\n',
]
const fault: fc.Arbitrary<Fault> = fc.record({
  at: fc.nat(600),
  remove: mostly(0, 1, fc.integer({ min: 1, max: 40 }), fc.constant(100_000)),
  insert: fc.oneof(
    fc.constantFrom('', ...PIECES, 'ffffffffffffffff', ...INHERITED.split(' ')),
    bytes(8),
  ),
})

function frame({ framing, body }: Request): { readonly lines: string[]; readonly content: string } {
  if (framing === 'none') return { lines: [], content: '' }
  if (framing === 'length') return { lines: [`Content-Length: ${body.length}`], content: body }
  const size = body.length.toString(16)
  const chunks = body === '' ? '' : `${size}\r\n${body}\r\n`
  return { lines: ['Transfer-Encoding: chunked'], content: `${chunks}0\r\n\r\n` }
}

function write(request: Request): string {
  const { lines, content } = frame(request)
  const headers = request.headers.map((parts) => parts.join(': '))
  const last = headers.pop()
  const authorization = request.authorization && [`Authorization: ${request.authorization}`]
  const type = request.framing === 'none' ? [] : ['Content-Type: application/json']
  const repeated = last === undefined ? [] : Array(request.times).fill(last)
  const more = [...authorization, ...type, ...headers, ...repeated, ...lines]
  return `${[request.line, `Host: ${request.host}`, ...more].join('\r\n')}\r\n\r\n${content}`
}

function apply(text: string, { at, remove, insert }: Fault): string {
  const place = at % (text.length + 1)
  return text.slice(0, place) + insert + text.slice(place + remove)
}

function cut(text: string, cuts: readonly number[]): string[] {
  const places = cuts.map((place) => place % (text.length + 1)).sort((one, other) => one - other)
  return [0, ...places].map((place, index) => text.slice(place, places[index]))
}

const packets = fc
  .record({
    requests: fc.array(request, { minLength: 1, maxLength: 3 }),
    faults: mostly<readonly Fault[]>([], 2, fc.array(fault, { maxLength: 4 })),
    cuts: mostly<readonly number[]>([], 1, fc.array(fc.nat(600), { maxLength: 3 })),
  })
  .map(({ requests, faults, cuts }) =>
    cut(faults.reduce(apply, requests.map(write).join('')), cuts),
  )

const input: fc.Arbitrary<Input> = fc.record({
  listener: mostly<Input['listener']>('service', 9, fc.constant('operations')),
  packets,
  ending: fc.constantFrom('finish', 'finish', 'finish', 'reset', 'leave'),
})

/** What strangers and callers might send by mistake or in malice; the same for the same seed. */
export function makeInputs(seed: number, count: number): Input[] {
  return fc.sample(input, { seed, numRuns: count })
}

/** The bytes of a packet. */
export function toBytes(packet: string, token: string): Buffer {
  return Buffer.from(packet.replaceAll(TOKEN, token), 'latin1')
}
