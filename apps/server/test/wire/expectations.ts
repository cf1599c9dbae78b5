import { tmpdir } from 'node:os'
import { type ErrorName, errorTable } from '@plant-store/contract'
import { expect } from 'vitest'
import type { Reply } from './raw-socket.ts'
import { PLANT_NAME, token } from './request.ts'

/** Header values, or matchers of them, by lower-case name. */
type SpecialHeaders = Readonly<Record<string, unknown>>

/** A 200 with this body. */
export interface ExpectedPlant {
  readonly plant: { readonly name: string; readonly tag?: string }
  /** Whether the plant was there before; false by default. */
  readonly isRepeat?: boolean
  /** Headers beyond those that every response carries. */
  readonly headers?: SpecialHeaders
}

/** An Error body by its name. */
export interface ExpectedError {
  readonly error: ErrorName
  /** What the message says, word for word if it is a text. */
  readonly message?: string | RegExp
  /** Headers beyond those that every response and every error of this name carries. */
  readonly headers?: SpecialHeaders
  /** False for the response to HEAD. */
  readonly hasBody?: boolean
}

export type ExpectedReply = ExpectedPlant | ExpectedError | 'continue'

/** The headers that belong to every error of a name. */
const errorHeaders: { readonly [Name in ErrorName]?: SpecialHeaders } = {
  method_not_allowed: { allow: 'POST' },
  missing_credentials: { 'www-authenticate': 'Bearer realm="plant-store"' },
  invalid_token: { 'www-authenticate': 'Bearer realm="plant-store", error="invalid_token"' },
  too_many_requests: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
  unavailable: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
}

/** What most requests of these tests get. */
export const stored = { plant: { name: PLANT_NAME } } as const
export const malformed = { error: 'malformed_request' } as const
export const missing = { error: 'missing_credentials' } as const
export const wrongMethod = { error: 'method_not_allowed' } as const
export const wantsJson = {
  error: 'unsupported_media_type',
  headers: { accept: 'application/json' },
} as const
export const wantsIdentity = {
  error: 'unsupported_media_type',
  headers: { 'accept-encoding': 'identity' },
} as const

/** Headers of the connection and the clock, which HTTP/1.1 itself asks for. */
const HTTP_HEADERS = new Set(['connection', 'keep-alive', 'date'])

const REQUEST_ID = /^[\w.-]{1,128}$/

/** Text that would show a caller the program from inside: a stack, SQL, a source file. */
const INSIDES = /\n|\bat .*:\d+|node_modules|\.[cm]?[jt]s\b|\b(?:SELECT|INSERT|UPDATE|sqlite)\b/i

/** The values of a header, joined; undefined when it did not come. */
export function headerOf({ headers }: Reply, name: string): string | undefined {
  return headers.get(name)?.join(', ')
}

function expectHeaders(reply: Reply, special: SpecialHeaders): void {
  // As a whole, so that x-powered-by, etag, server or a second line of any header is found.
  const headers = [...reply.headers].filter(([name]) => !HTTP_HEADERS.has(name))
  expect(Object.fromEntries(headers)).toStrictEqual({
    'content-type': ['application/json'],
    'content-length': [expect.stringMatching(/^\d+$/)],
    'cache-control': ['no-store'],
    'x-content-type-options': ['nosniff'],
    'x-request-id': [expect.stringMatching(REQUEST_ID)],
    ...Object.fromEntries(Object.entries(special).map(([name, value]) => [name, [value]])),
  })
}

/** Fails where text for callers or for a log gives away the token or what a caller sent. */
export function expectNoSecret(text: string): void {
  const [, , secret = token.text] = token.text.split(/^(plant_\w{12}_)/)
  for (const hidden of [secret, PLANT_NAME]) expect(text).not.toContain(hidden)
}

function expectError(reply: Reply, expected: ExpectedError): void {
  const { code, status } = errorTable[expected.error]
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status })
  expectHeaders(reply, { ...errorHeaders[expected.error], ...expected.headers })
  if (expected.hasBody === false) return
  const body: { error: number; message: string } = JSON.parse(reply.body)
  const { message = /./ } = expected
  const words = typeof message === 'string' ? message : expect.stringMatching(message)
  expect(body).toStrictEqual({ error: code, message: words })
  expect(body.message).not.toMatch(INSIDES)
  for (const place of [process.cwd(), tmpdir()]) expect(body.message).not.toContain(place)
  expectNoSecret(body.message)
}

/** Holds a response against everything that the interface says of it. */
export function expectReply(reply: Reply, expected: ExpectedReply): void {
  if (expected === 'continue') {
    expect(reply).toStrictEqual({ status: 100, headers: new Map(), body: '' })
  } else if ('error' in expected) {
    expectError(reply, expected)
  } else {
    expect({ status: reply.status, body: reply.body }).toMatchObject({ status: 200 })
    const replayed = expected.isRepeat ? { 'idempotent-replayed': 'true' } : {}
    expectHeaders(reply, { ...replayed, ...expected.headers })
    expect(JSON.parse(reply.body)).toStrictEqual(expected.plant)
  }
}
