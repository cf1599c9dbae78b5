import { describe, expect, test } from 'vitest'
import type { StoredPlant } from './database-under-test.ts'
import { type ExpectedReply, expectReply, headerOf } from './expectations.ts'
import { useWireServer } from './harness.ts'
import type { Reply } from './raw-socket.ts'
import { post } from './request.ts'

const server = useWireServer()

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
