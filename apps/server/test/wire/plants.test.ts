import { describe, expect, test } from 'vitest'
import { bytesOf, invalidCases, validCases } from '../../../../packages/contract/test/cases.ts'
import type { StoredPlant } from './database-under-test.ts'
import { type ExpectedReply, expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import type { Reply } from './raw-socket.ts'
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

const taken: ExpectedReply = { error: 'id_taken', message: /^id: -?\d+ is taken/ }

/** The response to a plant: to one that was stored before, with a header that says so. */
function replyOf({ id: _id, ...plant }: StoredPlant, isRepeat = false): ExpectedReply {
  return { plant, isRepeat }
}

const repeatOf = (plant: StoredPlant) => replyOf(plant, true)

function bodyOf({ id, ...plant }: StoredPlant): string {
  return `{"id":${id},${JSON.stringify(plant).slice(1)}`
}

const fern: StoredPlant = { id: 7n, name: 'Fern', tag: 'indoor' }
const bare: StoredPlant = { id: 7n, name: 'Fern' }
const untagged: StoredPlant = { ...bare, tag: '' }

describe('the same plant again is answered 200 again, and as a repeat:', () => {
  test.each<[claim: string, first: string, second: string, plant: StoredPlant]>([
    ['the same bytes', bodyOf(fern), bodyOf(fern), fern],
    ['without a tag', bodyOf(bare), bodyOf(bare), bare],
    ['with an empty tag', bodyOf(untagged), bodyOf(untagged), untagged],
    ['its id spelled differently', bodyOf(bare), '{"id":70e-1,"name":"Fern"}', bare],
    ['its name in escapes', bodyOf(bare), '{"id":7,"name":"\\u0046ern"}', bare],
    ['its members in another order', bodyOf(fern), '{"tag":"indoor","name":"Fern","id":7}', fern],
    ['with unknown members', bodyOf(fern), `{"x":1,${bodyOf(fern).slice(1)}`, fern],
    ['-0 after 0', '{"id":0,"name":"Fern"}', '{"id":-0,"name":"Fern"}', { ...bare, id: 0n }],
  ])('%s', (_claim, first, second, plant) =>
    server.check({
      sent: Buffer.concat([post(first), post(second), post(first)]),
      replies: [replyOf(plant), repeatOf(plant), repeatOf(plant)],
      stored: [plant],
    }),
  )
})

describe('an id that other content has is refused, and what is stored stays:', () => {
  test.each<[claim: string, first: StoredPlant, second: StoredPlant]>([
    ['another name', fern, { ...fern, name: 'Moss' }],
    ['another tag', fern, { ...fern, tag: 'outdoor' }],
    ['no tag instead of a tag', fern, bare],
    ['a tag instead of no tag', bare, fern],
    ['an empty tag instead of no tag', bare, untagged],
    ['no tag instead of an empty tag', untagged, bare],
    ['a name in another case', bare, { ...bare, name: 'FERN' }],
    ['a name with a space after it', bare, { ...bare, name: 'Fern ' }],
    ['NFD instead of NFC', { ...bare, name: '\u00e9' }, { ...bare, name: 'e\u0301' }],
    ['a byte order mark before the name', bare, { ...bare, name: '\ufeffFern' }],
    ['name and tag exchanged', fern, { id: 7n, name: 'indoor', tag: 'Fern' }],
  ])('%s', (_claim, first, second) =>
    server.check({
      sent: Buffer.concat([first, second, first].map((plant) => post(bodyOf(plant)))),
      replies: [replyOf(first), taken, repeatOf(first)],
      stored: [first],
    }),
  )

  test('the refusal does not reveal what is stored', async () => {
    const caller = await server.open()
    caller.send(Buffer.concat([post(bodyOf(fern)), post('{"id":7,"name":"Moss"}')]))
    await caller.readReply()
    const { body } = await caller.readReply()
    expect(body).not.toMatch(/Fern|indoor|Moss/)
  })
})

describe('at the same time,', () => {
  /** One connection for each plant; the responses in the order of the plants. */
  const createAtOnce = (plants: readonly StoredPlant[]) =>
    Promise.all(plants.map((plant) => server.ask(post(bodyOf(plant)))))

  test('40 creates of the same plant are all answered 200, one of them as the first', async () => {
    const replies = await createAtOnce(Array(40).fill(fern))
    const isFirst = (reply: Reply) => headerOf(reply, 'idempotent-replayed') === undefined
    expect(replies.filter(isFirst)).toHaveLength(1)
    for (const reply of replies) expectReply(reply, replyOf(fern, !isFirst(reply)))
    await server.expectStoredAndServing([fern])
  })

  test('of 40 plants with one id exactly one is stored, and only that one is answered 200', async () => {
    const plants = Array.from({ length: 40 }, (_, index) => ({ ...fern, name: `Fern ${index}` }))
    const replies = await createAtOnce(plants)
    const winner = replies.findIndex(({ status }) => status === 200)
    const stored = plants[winner] ?? fern
    for (const [index, reply] of replies.entries()) {
      expectReply(reply, index === winner ? replyOf(stored) : taken)
    }
    await server.expectStoredAndServing([stored])
  })

  test('40 plants with ids of their own are all stored', async () => {
    const plants = Array.from({ length: 40 }, (_, index) => ({ ...fern, id: BigInt(index) }))
    for (const reply of await createAtOnce(plants)) expectReply(reply, replyOf(fern))
    await server.expectStoredAndServing(plants)
  })
})
