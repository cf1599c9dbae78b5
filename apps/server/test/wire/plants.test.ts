import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import { useWireServer } from './harness.ts'
import { post } from './request.ts'

const server = useWireServer()

describe('a body of the contract is answered and stored as it came:', () => {
  test.each(validCases)('$name', async (one) => {
    const { id, ...rest } = one.plant
    await server.accepts(post(bytesOf(one)), { id: BigInt(id), ...rest })
  })
})

describe('a body that breaks the contract is refused by its rule:', () => {
  test.each(invalidCases)('$name', (one) => server.refuses(post(bytesOf(one)), one))

  test('no body and no length', () =>
    server.refuses(post('', { framing: null }), {
      error: 'malformed_json',
      message: /^body: is empty$/,
    }))
})

test('no text can forge a line of the log', async () => {
  const name = 'a\r\n{"level":60,"msg":"forged"}\r\n\u001b[31m'
  const body = (tag: string) => post(JSON.stringify({ id: 1, name, tag }))
  await server.check({
    sent: Buffer.concat([body(name), body('b'), post(`{"id":"${name}"}`)]),
    replies: [{ plant: { name, tag: name } }, { error: 'id_taken' }, { error: 'malformed_json' }],
    stored: [{ id: 1n, name, tag: name }],
  })
  expect((await server.readLog()).join('')).not.toContain('forged')
})

const fern = { name: 'Fern', tag: 'indoor' }
const stored = { plant: fern }
const repeated = { plant: fern, isRepeat: true }
const first = '{"id":7,"name":"Fern","tag":"indoor"}'

test('the same plant again, however it is spelled, is answered 200 again, as a repeat', () =>
  server.check({
    sent: Buffer.concat(
      [first, first, '{"x":1,"tag":"indoor","name":"\\u0046ern","id":70e-1}', first].map((body) =>
        post(body),
      ),
    ),
    replies: [stored, repeated, repeated, repeated],
    stored: [{ id: 7n, ...fern }],
  }))

test('an id that other content has is refused, reveals nothing, and what is stored stays', () =>
  server.check({
    sent: Buffer.concat([first, '{"id":7,"name":"Moss"}', first].map((body) => post(body))),
    replies: [
      stored,
      { error: 'id_taken', message: /^id: 7 is taken (?!.*(?:Fern|indoor|Moss))/ },
      repeated,
    ],
    stored: [{ id: 7n, ...fern }],
  }))
