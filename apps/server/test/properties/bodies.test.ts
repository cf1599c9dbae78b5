import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { errorTable } from '@plant-store/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredPlant } from '../wire/database-under-test.ts'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import type { Connection, Reply } from '../wire/raw-socket.ts'
import { get, post } from '../wire/request.ts'
import { anyBody } from './bodies.ts'
import { createDocumentValidator, type DocumentValidator } from './document-validator.ts'
import { parseExactly } from './exact-json.ts'
import { judge, type Verdict } from './judge.ts'

/** How many bodies are sent, in batches, each over several connections. */
const BODIES = Number(process.env.PLANT_STORE_TEST_BODIES ?? 2_000)
const BATCH = 100

/** So many of a batch are sent again at its end. */
const REPEATS = 5
const CONNECTIONS = 4

/** A failure prints its seed; with it, the same bodies are sent again. */
const SEED = process.env.PLANT_STORE_TEST_SEED

/** Many times what a body takes. */
const TIMEOUT_MS = 60_000 + 20 * BODIES

/** A body that was sent, what the document says of it, and what the server said. */
interface Exchange {
  readonly body: Buffer
  readonly verdict: Verdict
  readonly reply: Reply
}

const server = useWireServer()

/** Sends bodies over all connections at once, pipelined, and judges each by the document. */
async function exchange(
  bodies: readonly Buffer[],
  connections: readonly Connection[],
  document: DocumentValidator,
): Promise<Exchange[]> {
  const share = Math.ceil(bodies.length / connections.length)
  const shares = connections.map(async (connection, index) => {
    const sent = bodies.slice(index * share, (index + 1) * share)
    connection.send(Buffer.concat(sent.map((body) => post(body))))
    const exchanges: Exchange[] = []
    for (const body of sent) {
      exchanges.push({ body, verdict: judge(body, document), reply: await connection.readReply() })
    }
    return exchanges
  })
  return (await Promise.all(shares)).flat()
}

/** Whether a response says that the plant was there before. */
const isRepeat = ({ headers }: Reply) => headers.has('idempotent-replayed')

function expectAnswered({ verdict, reply }: Exchange, plants: Map<bigint, StoredPlant>): void {
  if ('error' in verdict) {
    expectReply(reply, verdict)
    return
  }
  const { id, ...plant } = verdict.plant
  const isStored = isDeepStrictEqual(plants.get(id), verdict.plant)
  expectReply(reply, isStored ? { plant, isRepeat: isRepeat(reply) } : { error: 'id_taken' })
}

/**
 * Holds the responses to a batch against the document, and the store that was empty before it: of
 * the plants under one id exactly one is stored, its repeats say so, and the others are refused.
 */
function expectAgreement(
  exchanges: readonly Exchange[],
  stored: readonly StoredPlant[],
  document: DocumentValidator,
): void {
  const plants = new Map(stored.map((plant) => [plant.id, plant]))
  for (const one of exchanges) {
    const { body, verdict, reply } = one
    try {
      expectAnswered(one, plants)
      expect(document.isResponseBody(reply.status, parseExactly(reply.body))).toBe(true)
    } catch (cause) {
      const said = 'error' in verdict ? verdict.error : 'a plant'
      const shown = isUtf8(body) ? JSON.stringify(body.toString()) : body.toString('hex')
      const answer = `${reply.status} ${reply.body}`
      throw new Error(`the document calls ${shown} ${said}, the server says ${answer}`, { cause })
    }
  }
  // Each valid id is stored with what was answered 200 as new, once; nothing else may be.
  const valid = exchanges.flatMap(({ verdict }) => ('plant' in verdict ? [verdict.plant.id] : []))
  expect(new Set(plants.keys())).toEqual(new Set(valid))
  const created = exchanges.filter(({ reply }) => reply.status === 200 && !isRepeat(reply))
  expect(created).toHaveLength(stored.length)
  const asNew = created.map(({ verdict }) => ('plant' in verdict ? verdict.plant : undefined))
  expect(new Set(asNew)).toEqual(new Set(stored))
}

test(`for ${BODIES} bodies the server's verdict is that of the document it serves`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const document = createDocumentValidator((await server.ask(get('/openapi.json'))).body)
  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => server.open()))
  /** The errors that bodies were answered with, by number; undefined for a plant. */
  const outcomes: (number | undefined)[] = []
  const batches = fc.array(anyBody, { minLength: BATCH, maxLength: BATCH })
  const property = fc.asyncProperty(batches, async (bodies) => {
    const sent = [...bodies, ...bodies.slice(0, REPEATS)]
    const exchanges = await exchange(sent, connections, document)
    expectAgreement(exchanges, await server.database.readPlants(), document)
    await server.database.removePlants()
    outcomes.push(...exchanges.map(({ reply }) => JSON.parse(reply.body).error))
  })
  const { failed, seed, errorInstance } = await fc.check(property, {
    numRuns: Math.ceil(BODIES / BATCH),
    // Without shrinking: the error names the body, and a batch of a hundred would take long to shrink.
    endOnFailure: true,
    ...(SEED !== undefined && { seed: Number(SEED) }),
  })
  if (failed) throw new Error(`PLANT_STORE_TEST_SEED=${seed}: ${errorInstance}`)
  // An outcome that is rare would prove little.
  const groups = Map.groupBy(outcomes, (outcome) => outcome)
  const common = [...groups].filter(([, { length }]) => length > BODIES / 50)
  const { malformed_json, invalid_plant, id_taken } = errorTable
  const expected = [undefined, malformed_json.code, invalid_plant.code, id_taken.code]
  expect(new Set(common.map(([outcome]) => outcome))).toEqual(new Set(expected))
})
