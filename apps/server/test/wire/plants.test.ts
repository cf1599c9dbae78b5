import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post } from './request.ts'

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

test('9007199254740992 and 9007199254740993 are two plants', async () => {
  const ids = [9_007_199_254_740_992n, 9_007_199_254_740_993n]
  const plant = { name: plantOf(1).name }
  await server.check({
    sent: Buffer.concat(ids.map((id) => post(plantText(id)))),
    replies: [{ plant }, { plant }],
    stored: ids.map(plantOf),
  })
})

test('60 kB of text are stored', async () => {
  const text = 'ö'.repeat(15_000)
  await server.accepts(post(`{"id":1,"name":"${text}","tag":"${text}"}`), {
    id: 1n,
    name: text,
    tag: text,
  })
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
