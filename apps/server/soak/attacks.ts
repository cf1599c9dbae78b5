import { parseArgs } from 'node:util'
import {
  bodyInChunks,
  type Held,
  holdConnections,
  hostileBytes,
  STRANGER,
} from '../test/limits/load/held.ts'
import { type Pressed, percentile, press } from '../test/limits/load/press.ts'
import { memoryOf, watchMemory } from '../test/limits/load/truth.ts'
import { describeReplies, judge, report } from './judge.ts'
import { type Rig, takeIds, withServer } from './rig.ts'

const { values } = parseArgs({
  options: {
    part: { type: 'string', multiple: true, default: ['unread', 'chunks', 'burst', 'strangers'] },
  },
})

const PAGE = '/openapi.json'

/** One good caller that sends its next create once the last one is answered. */
function createOneByOne({ served, goodRequest }: Rig, seconds: number): Promise<Pressed> {
  const load = { port: served.port, requestFor: goodRequest, connections: 1, seconds }
  return press({ ...load, firstId: takeIds() })
}

/** What a good caller waits while others hold connections, beside what it waits without them. */
async function createAmong(rig: Rig, held: Omit<Held, 'port'>, seconds: number) {
  const quiet = await createOneByOne(rig, 2)
  const before = memoryOf(rig.served.pid)
  const memory = watchMemory(rig.served.pid)
  const end = holdConnections({ port: rig.served.port, ...held })
  const good = await createOneByOne(rig, seconds)
  memory.stop()
  ;(await end)()
  judge('good requests that were not answered 200', good.sent - good.acknowledged.length, 0)
  return { quiet, good, riseMb: memory.largest - before }
}

async function leaveUnread(rig: Rig): Promise<Pressed[]> {
  const all = hostileBytes(rig.token, PAGE)
  const bytes = all['requests behind replies that it does not read'] as Buffer
  const { quiet, good, riseMb } = await createAmong(rig, { connections: 2_000, bytes }, 10)
  judge('MB of memory for 2,000 connections', riseMb, 300)
  return [quiet, good]
}

async function sendChunks(rig: Rig): Promise<Pressed[]> {
  const bytes = bodyInChunks(rig.token, 65_000)
  const { quiet, good } = await createAmong(rig, { connections: 100, bytes }, 15)
  report(`  p99 of a lone caller without them: ${percentile(quiet.latencies, 0.99).toFixed(1)} ms`)
  judge('ms, p99 of a good caller', percentile(good.latencies, 0.99), 100)
  return [quiet, good]
}

async function burst(rig: Rig): Promise<Pressed[]> {
  const bytes = Buffer.from(STRANGER.repeat(9_000))
  const { quiet, good } = await createAmong(rig, { connections: 10, bytes }, 5)
  judge('ms, the longest of a good caller', Math.max(...good.latencies), 250)
  return [quiet, good]
}

async function serveAmongStrangers(rig: Rig): Promise<Pressed[]> {
  const quiet = await createOneByOne(rig, 3)
  const [strangers, good] = await Promise.all([
    press({
      port: rig.served.port,
      requestFor: () => STRANGER,
      connections: 256,
      perSecond: 15_000,
      seconds: 10,
      firstId: takeIds(),
    }),
    createOneByOne(rig, 10),
  ])
  report(
    `  strangers: ${Math.round(strangers.sent / 10)} a second sent, ${describeReplies(strangers)}`,
  )
  const [quietMs, goodMs] = [quiet, good].map(({ latencies }) => percentile(latencies, 0.5))
  report(`  median of a good caller: ${goodMs?.toFixed(2)} ms, and ${quietMs?.toFixed(2)} ms alone`)
  judge('times the median alone', (goodMs ?? 0) / (quietMs ?? 1), 3)
  return [quiet, good]
}

const settings = { PLANT_STORE_ADDRESS_LIMIT: 'off', PLANT_STORE_LOG_LEVEL: 'silent' }
const parts: Readonly<Record<string, readonly [string, (rig: Rig) => Promise<Pressed[]>]>> = {
  unread: ['2,000 connections that read nothing', leaveUnread],
  chunks: ['100 bodies of 64 KiB in chunks of one byte', sendChunks],
  burst: ['a burst of 90,000 pipelined requests without a token', burst],
  strangers: ['10 s among 15,000 requests a second without a token', serveAmongStrangers],
}
for (const part of values.part) {
  const [what, run] = parts[part] ?? []
  if (what === undefined || run === undefined)
    throw new Error(`--part ${part}: there is no such part`)
  report(what)
  await withServer(settings, run)
}
