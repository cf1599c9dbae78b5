import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useWireServer } from '../wire/harness.ts'
import { request } from '../wire/request.ts'
import { type Exchange, exchange, expectAgreement, outcomeOf } from './batch.ts'
import { bodiesFor } from './bodies.ts'
import { createDocumentValidator } from './document-validator.ts'

/** How many bodies are sent, in batches, each over several connections. */
const BODIES = Number(process.env.PLANT_STORE_TEST_BODIES ?? 2_000)
const BATCH = 100

/** So many of a batch are sent again at its end. */
const REPEATS = 5
const CONNECTIONS = 4

/** A failure prints its seed; with it, the same bodies are sent again. */
const SEED = process.env.PLANT_STORE_TEST_SEED
const repeat = SEED === undefined ? {} : { seed: Number(SEED) }

/** Many times what a body takes. */
const TIMEOUT_MS = 60_000 + 20 * BODIES

const server = useWireServer()

async function readDocument(): Promise<string> {
  const caller = await server.open()
  const bare = { authorization: null, contentType: null, framing: null, body: '' }
  caller.send(request({ line: 'GET /openapi.json HTTP/1.1', ...bare }))
  return (await caller.readReply()).body
}

test(`for ${BODIES} bodies the server's verdict is that of the document it serves`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const text = await readDocument()
  const document = createDocumentValidator(text)
  const batches = fc.array(bodiesFor(text), { minLength: BATCH, maxLength: BATCH })
  const opened = Array.from({ length: CONNECTIONS }, () => server.open())
  const connections = await Promise.all(opened)
  const counts = new Map<string, number>()

  const property = fc.asyncProperty(batches, async (bodies) => {
    const sent = [...bodies, ...bodies.slice(0, REPEATS)]
    const exchanges = await exchange(sent, connections, document)
    expectAgreement(exchanges, await server.database.readPlants(), document)
    await server.database.removePlants()
    for (const one of exchanges) count(counts, one)
  })
  await assertProperty(property)
  expectVariety(counts)
})

/** Without shrinking: the error names the body, and a batch of a hundred would take long to shrink. */
async function assertProperty(property: fc.IAsyncProperty<unknown>): Promise<void> {
  const options = { numRuns: Math.ceil(BODIES / BATCH), endOnFailure: true, ...repeat }
  const { failed, seed, errorInstance } = await fc.check(property, options)
  if (!failed) return
  const words = errorInstance instanceof Error ? errorInstance.message : String(errorInstance)
  throw new Error(`PLANT_STORE_TEST_SEED=${seed}: ${words}`, { cause: errorInstance })
}

/** Fails where an outcome was so rare that it would prove little. */
function expectVariety(counts: ReadonlyMap<string, number>): void {
  const common = [...counts].filter(([, number]) => number > BODIES / 50)
  const outcomes = common.map(([outcome]) => outcome).toSorted()
  expect(outcomes).toEqual(['id_taken', 'invalid_plant', 'malformed_json', 'stored'])
}

function count(counts: Map<string, number>, one: Exchange): void {
  const outcome = outcomeOf(one)
  counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
}
