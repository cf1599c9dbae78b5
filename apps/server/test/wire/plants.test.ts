import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import { expectReply } from './expectations.ts'
import { useWireServer } from './harness.ts'
import { plantText, post } from './request.ts'

const server = useWireServer()

describe('a body of the contract is answered and stored as it came:', () => {
  test.each(validCases)('$name', async (one) => {
    const { id, ...rest } = one.plant
    await server.accepts(post(bytesOf(one)), { id: BigInt(id), ...rest })
  })
})

describe('a body that breaks the contract is refused by its rule:', () => {
  test.each(invalidCases)('$name', (one) => {
    const { error } = one
    const message = 'message' in one ? one.message : ''
    const escaped = message.replaceAll(/[^\w\s]/g, '\\$&')
    return server.refuses(post(bytesOf(one)), {
      error,
      ...(message && { message: new RegExp(`^${escaped}$`) }),
    })
  })

  test('no body and no length', () =>
    server.refuses(post('', { framing: null }), { error: 'malformed_json', message: /empty/ }))
})

test('a body of 1,000 values is taken, and one of more is refused', async () => {
  const withItems = (count: number) => post(`{"id":1,"name":"Fern","x":[${Array(count).fill(7)}]}`)
  await server.accepts(withItems(996), { id: 1n, name: 'Fern' })
  const message = /^body: holds more than 1000 values$/
  expectReply(await server.ask(withItems(997)), { error: 'malformed_json', message })
})

test.each([
  ['an id of 60,000 digits', plantText('7'.repeat(60_000))],
  ['an id with a fraction of 60,000 digits', plantText(`0.${'0'.repeat(60_000)}1`)],
  ['an id with an exponent of ten digits', plantText('1e1000000000')],
  ['30,000 nested arrays', '['.repeat(30_000) + ']'.repeat(30_000)],
])('%s is answered hardly later than text as long', async (_claim, body) => {
  const timeOf = async (sent: Buffer) => {
    const begin = performance.now()
    await server.ask(sent)
    return performance.now() - begin
  }
  const fastestOf = async (text: string) =>
    Math.min(await timeOf(post(text)), await timeOf(post(text)), await timeOf(post(text)))
  const plainMs = await fastestOf(`"${'7'.repeat(body.length)}"`)
  expect(await fastestOf(body)).toBeLessThan(50 + 10 * plainMs)
  await server.expectStoredAndServing([])
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
