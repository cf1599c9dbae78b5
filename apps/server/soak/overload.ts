import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createOpaqueToken } from '../src/auth/tokens.ts'
import {
  createRequests,
  networkFor,
  type Pressed,
  percentile,
  press,
} from '../test/limits/load/press.ts'
import { openSlowCallers } from '../test/limits/load/slow-callers.ts'
import { watchMemory } from '../test/limits/load/truth.ts'
import { describeReplies, judge, judgeMemory, report } from './judge.ts'
import { type Rig, takeIds, withServer } from './rig.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '1000' },
    part: { type: 'string', multiple: true, default: ['overload', 'slow', 'wrong'] },
  },
})
const seconds = Number(values.seconds)
const connections = Number(values.connections)

/** The three things that must hold, each with its own bound on what a good caller waits. */
const ACCEPTED_P99_MS = 250
const GOOD_P99_MS = 100
const RECOVERY_MS = 2_000

/** How long after the load it takes until nobody is refused any more. */
async function timeRecovery({ served, goodRequest }: Rig): Promise<number> {
  const begin = performance.now()
  for (;;) {
    const load = { port: served.port, requestFor: goodRequest, connections: 64, seconds: 0.25 }
    const pressed = await press({ ...load, firstId: takeIds() })
    if (pressed.refused.length === 0) return performance.now() - begin
  }
}

async function pressBeyondCapacity(rig: Rig): Promise<Pressed[]> {
  const { served, goodRequest } = rig
  const load = { port: served.port, requestFor: goodRequest }
  const calm = await press({ ...load, connections: 256, seconds: 5, firstId: takeIds() })
  const capacity = calm.acknowledged.length / 5
  report(`  it serves ${Math.round(capacity)} a second: ${describeReplies(calm)}`)
  judge('refused of 256 connections without overload', calm.refused.length, 0)
  const memory = watchMemory(served.pid)
  const perSecond = 4 * capacity
  const storm = await press({ ...load, connections, perSecond, seconds, firstId: takeIds() })
  const recoveryMs = await timeRecovery(rig)
  judgeMemory(memory)
  const rate = (count: number) => Math.round(count / seconds)
  report(
    `  of ${Math.round(perSecond)} due a second, ${rate(storm.sent)} were sent over ` +
      `${connections} connections and ${rate(storm.acknowledged.length)} stored: ${describeReplies(storm)}`,
  )
  const others = [...storm.replies.keys()].filter((status) => ![200, 429, 503].includes(status))
  judge('answers other than 200, 429 and 503', others.length, 0)
  judge('requests without a reply', storm.sent - storm.latencies.length - storm.refused.length, 0)
  judge('ms, p99 of the accepted', percentile(storm.latencies, 0.99), ACCEPTED_P99_MS)
  report(
    `  p50 of the accepted ${Math.round(percentile(storm.latencies, 0.5))} ms; of the refused p50 ` +
      `${Math.round(percentile(storm.refusalLatencies, 0.5))} ms, p99 ${Math.round(percentile(storm.refusalLatencies, 0.99))} ms`,
  )
  judge('ms until nobody is refused', recoveryMs, RECOVERY_MS)
  return [calm, storm]
}

/** A load that any server can bear, of callers that do nothing wrong. */
function pressGently({ served, goodRequest }: Rig, forSeconds: number): Promise<Pressed> {
  return press({
    port: served.port,
    requestFor: goodRequest,
    connections: 64,
    perSecond: 500,
    seconds: forSeconds,
    firstId: takeIds(),
  })
}

/** Serves good callers alone, which says how much of their wait is this machine's. */
async function serveAlone(rig: Rig): Promise<void> {
  const { latencies } = await pressGently(rig, 2)
  report(`  good callers alone: p99 ${Math.round(percentile(latencies, 0.99))} ms`)
}

function judgeGood(good: Pressed): void {
  report(`  good callers: ${describeReplies(good)}, ${good.unsent} not sent`)
  judge('good requests that were not answered 200', good.sent - good.acknowledged.length, 0)
  judge('ms, p99 of the good callers', percentile(good.latencies, 0.99), GOOD_P99_MS)
}

async function serveAmongSlowCallers(rig: Rig): Promise<Pressed[]> {
  const { served, goodRequest } = rig
  await serveAlone(rig)
  const memory = watchMemory(served.pid)
  const slow = await openSlowCallers({
    port: served.port,
    counts: { 'slow header': 100, 'slow body': 100, 'slow reading': 100, idle: 5_000 },
    requestFor: goodRequest,
  })
  const good = await pressGently(rig, slowSeconds)
  slow.readToEnd()
  await sleep(1_000)
  judgeMemory(memory)
  for (const [slowness, count] of Object.entries(slow.cut)) {
    const last = slow.lastCutMs[slowness as keyof typeof slow.lastCutMs]
    report(`  ${slowness}: ${count} cut, the last after ${Math.round(last)} ms`)
  }
  judge(
    'slow callers that were not cut',
    300 - (slow.cut['slow header'] + slow.cut['slow body'] + slow.cut['slow reading']),
    0,
  )
  slow.close()
  judgeGood(good)
  return [good]
}

/** Wrong tokens from one address, or each from another. */
async function serveAmongWrongTokens(rig: Rig, isSpread: boolean): Promise<Pressed[]> {
  const { served } = rig
  // Seen before, as the token of a caller is that has been at work.
  await serveAlone(rig)
  const memory = watchMemory(served.pid)
  const address = (id: number) => (isSpread ? networkFor(id) : '198.51.100.1')
  const tokens = Array.from({ length: 1_000 }, () => createOpaqueToken().text)
  const linesFor = (id: number) =>
    `authorization: Bearer ${tokens[id % tokens.length]}\r\nx-forwarded-for: ${address(id)}`
  const [wrong, good] = await Promise.all([
    press({
      port: served.port,
      requestFor: createRequests(served.port, linesFor),
      connections: 256,
      perSecond: 10_000,
      seconds: 10,
      firstId: takeIds(),
    }),
    pressGently(rig, 10),
  ])
  judgeMemory(memory)
  report(`  wrong tokens: ${Math.round(wrong.sent / 10)} a second sent, ${describeReplies(wrong)}`)
  const statuses = [...wrong.replies.keys()].filter((status) => ![401, 429, 503].includes(status))
  judge('wrong tokens answered other than 401, 429 and 503', statuses.length, 0)
  judgeGood(good)
  return [wrong, good]
}

/** Longer than the server waits for a body. */
const slowSeconds = Math.max(35, seconds)
const anyAddress = { PLANT_STORE_ADDRESS_LIMIT: 'off' }
const keepAlive = {
  ...anyAddress,
  PLANT_STORE_KEEP_ALIVE_TIMEOUT_MS: String(Math.round(slowSeconds * 750)),
}
const behindProxy = { PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1', PLANT_STORE_LOG_LEVEL: 'silent' }

if (values.part.includes('overload')) {
  report(`${seconds} s of four times what it serves`)
  await withServer(anyAddress, pressBeyondCapacity)
}
if (values.part.includes('slow')) {
  report(`${slowSeconds} s among 300 slow callers and 5,000 idle connections`)
  await withServer(keepAlive, serveAmongSlowCallers)
}
if (values.part.includes('wrong')) {
  report('10 s among 10,000 wrong tokens a second from one address')
  await withServer(behindProxy, (rig) => serveAmongWrongTokens(rig, false))
  report('10 s among 10,000 wrong tokens a second, each from another address')
  await withServer(behindProxy, (rig) => serveAmongWrongTokens(rig, true))
}
