import { isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { errorTable } from '@plant-store/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredPlant } from '../wire/database-under-test.ts'
import { expectReply } from '../wire/expectations.ts'
import { useWireServer } from '../wire/harness.ts'
import type { Connection, Reply } from '../wire/raw-socket.ts'
import { post, request } from '../wire/request.ts'
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
      const message = `the document calls ${shown} ${said}, the server replies ${reply.status} ${reply.body}`
      throw new Error(message, { cause })
    }
  }
  // Each valid id is stored with what was answered 200 as new, once; nothing else may be.
  const valid = exchanges.flatMap(({ verdict }) => ('plant' in verdict ? [verdict.plant.id] : []))
  expect(new Set(plants.keys())).toEqual(new Set(valid))
  const created = exchanges.filter(({ reply }) => reply.status === 200 && !isRepeat(reply))
  expect(created).toHaveLength(stored.length)
  expect(new Set(created.map(({ verdict }) => ('plant' in verdict ? verdict.plant : 0)))).toEqual(
    new Set(stored),
  )
}

/** What became of a body, as a word to count by. */
function outcomeOf({ reply }: Exchange): string {
  if (reply.status === 200) return 'stored'
  const { error } = JSON.parse(reply.body)
  return Object.entries(errorTable).find(([, { code }]) => code === error)?.[0] ?? 'unknown'
}

test(`for ${BODIES} bodies the server's verdict is that of the document it serves`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const caller = await server.open()
  const bare = { authorization: null, contentType: null, framing: null, body: '' }
  caller.send(request({ line: 'GET /openapi.json HTTP/1.1', ...bare }))
  const document = createDocumentValidator((await caller.readReply()).body)
  const opened = Array.from({ length: CONNECTIONS }, () => server.open())
  const connections = await Promise.all(opened)
  const counts = new Map<string, number>()
  const batches = fc.array(anyBody, { minLength: BATCH, maxLength: BATCH })
  const property = fc.asyncProperty(batches, async (bodies) => {
    const sent = [...bodies, ...bodies.slice(0, REPEATS)]
    const exchanges = await exchange(sent, connections, document)
    expectAgreement(exchanges, await server.database.readPlants(), document)
    await server.database.removePlants()
    for (const outcome of exchanges.map(outcomeOf)) {
      counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    }
  })
  // Without shrinking: the error names the body, and a batch of a hundred would take long to shrink.
  const again = SEED === undefined ? {} : { seed: Number(SEED) }
  const numRuns = Math.ceil(BODIES / BATCH)
  const { failed, seed, errorInstance } = await fc.check(property, {
    numRuns,
    endOnFailure: true,
    ...again,
  })
  if (failed) throw new Error(`PLANT_STORE_TEST_SEED=${seed}: ${errorInstance}`)
  // An outcome that is rare would prove little.
  const common = [...counts].filter(([, number]) => number > BODIES / 50)
  const outcomes = common.map(([outcome]) => outcome).toSorted()
  expect(outcomes).toEqual(['id_taken', 'invalid_plant', 'malformed_json', 'stored'])
})
