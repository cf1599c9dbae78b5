import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createOpaqueToken } from '../src/auth/tokens.ts'
import { createRequests, networkFor, type Pressed, percentile } from '../test/limits/load/press.ts'
import { openSlowCallers } from '../test/limits/load/slow-callers.ts'
import { judge, type Rig, report, withServer } from './rig.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    connections: { type: 'string', default: '1000' },
  },
})
const seconds = Number(values.seconds)
const connections = Number(values.connections)

/** What a good caller waits at most while others are refused. */
const ACCEPTED_P99_MS = 250
const GOOD_P99_MS = 100
const RECOVERY_MS = 2_000

/** Longer than the server waits for a body. */
const SLOW_SECONDS = Math.max(35, seconds)

function describeReplies({ replies }: Pressed): string {
  return [...replies].map(([status, count]) => `${count} × ${status}`).join(', ')
}

/** How long after the load it takes until nobody is refused any more. */
async function timeRecovery({ press }: Rig): Promise<number> {
  const begin = performance.now()
  while ((await press({ connections: 64, seconds: 0.25 })).refused.length > 0);
  return performance.now() - begin
}

async function pressBeyondCapacity(rig: Rig): Promise<Pressed[]> {
  const calm = await rig.press({ connections: 256, seconds: 5 })
  const capacity = calm.acknowledged.length / 5
  report(`  it serves ${Math.round(capacity)} a second: ${describeReplies(calm)}`)
  judge('refused of 256 connections without overload', calm.refused.length, 0)
  const storm = await rig.press({ connections, perSecond: 4 * capacity, seconds })
  const recoveryMs = await timeRecovery(rig)
  report(`  at four times that: ${describeReplies(storm)}`)
  const others = [...storm.replies.keys()].filter((status) => ![200, 429, 503].includes(status))
  judge('responses other than 200, 429 and 503', others.length, 0)
  const missing = storm.sent - storm.latencies.length - storm.refused.length
  judge('requests without a response', missing, 0)
  judge('ms, p99 of the accepted', percentile(storm.latencies, 0.99), ACCEPTED_P99_MS)
  judge('ms until nobody is refused', recoveryMs, RECOVERY_MS)
  return [calm, storm]
}

/** A load that any server can bear, of callers that do nothing wrong, while others do. */
async function pressGently({ press }: Rig, forSeconds: number): Promise<Pressed> {
  const good = await press({ connections: 64, perSecond: 500, seconds: forSeconds })
  report(`  good callers: ${describeReplies(good)}, ${good.unsent} not sent`)
  judge('good requests that were not answered 200', good.sent - good.acknowledged.length, 0)
  judge('ms, p99 of the good callers', percentile(good.latencies, 0.99), GOOD_P99_MS)
  return good
}

async function serveAmongSlowCallers(rig: Rig): Promise<Pressed[]> {
  const slow = await openSlowCallers({
    port: rig.served.port,
    counts: { 'slow header': 100, 'slow body': 100, 'slow reading': 100, idle: 5_000 },
    requestFor: rig.goodRequest,
  })
  const good = await pressGently(rig, SLOW_SECONDS)
  slow.readToEnd()
  await sleep(1_000)
  const { 'slow header': headers, 'slow body': bodies, 'slow reading': readings } = slow.cut
  judge('slow callers that were not cut', 300 - headers - bodies - readings, 0)
  slow.close()
  return [good]
}

/** Wrong tokens, each from the address that it is given. */
function serveAmongWrongTokens(addressOf: (id: number) => string) {
  return async (rig: Rig): Promise<Pressed[]> => {
    // Seen before, as the token of a caller is that has been at work.
    const before = await rig.press({ connections: 64, perSecond: 500, seconds: 2 })
    const tokens = Array.from({ length: 1_000 }, () => createOpaqueToken().text)
    const linesFor = (id: number) =>
      `authorization: Bearer ${tokens[id % tokens.length]}\r\nx-forwarded-for: ${addressOf(id)}`
    const requestFor = createRequests(rig.served.port, linesFor)
    const [wrong, good] = await Promise.all([
      rig.press({ requestFor, connections: 256, perSecond: 10_000, seconds: 10 }),
      pressGently(rig, 10),
    ])
    report(`  wrong tokens: ${describeReplies(wrong)}`)
    const statuses = [...wrong.replies.keys()].filter((status) => ![401, 429, 503].includes(status))
    judge('wrong tokens answered other than 401, 429 and 503', statuses.length, 0)
    return [before, wrong, good]
  }
}

const anyAddress = { PLANT_STORE_ADDRESS_LIMIT: 'off' }
const keepAlive = { PLANT_STORE_KEEP_ALIVE_TIMEOUT_MS: String(Math.round(SLOW_SECONDS * 750)) }
const behindProxy = { PLANT_STORE_TRUSTED_PROXIES: '127.0.0.1' }

report(`${seconds} s of four times what it serves`)
await withServer(anyAddress, pressBeyondCapacity)
report(`${SLOW_SECONDS} s among 300 slow callers and 5,000 idle connections`)
await withServer({ ...anyAddress, ...keepAlive }, serveAmongSlowCallers)
report('10 s among 10,000 wrong tokens a second from one address')
await withServer(
  behindProxy,
  serveAmongWrongTokens(() => '198.51.100.1'),
)
report('10 s among 10,000 wrong tokens a second, each from another address')
await withServer(behindProxy, serveAmongWrongTokens(networkFor))
