import { parseArgs } from 'node:util'
import { startPair } from '../test/postgres/pair.ts'
import { readRows } from '../test/postgres/served-database.ts'
import { failOver } from './failovers.ts'
import { judge, report } from './judge.ts'
import { prepare } from './served.ts'

const { values } = parseArgs({
  options: {
    failovers: { type: 'string', default: '100' },
    callers: { type: 'string', default: '16' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
  },
})

function describe(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  report(`${name}: median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`)
}

report(`${values.failovers} failovers under load of two servers, seed ${values.seed}`)
const begin = performance.now()
const pair = await startPair()
try {
  const name = new URL(await pair.primary.createDatabase()).pathname.slice(1)
  const { history, outages } = await failOver({
    pair,
    databaseUrls: [pair.urlOf(name), pair.turnedUrlOf(name)],
    token: await prepare(pair.urlOf(name)),
    failovers: Number(values.failovers),
    callers: Number(values.callers),
    seed: Number(values.seed),
    onFailover: (count) => count % 10 === 0 && report(`${count} failovers`),
  })
  const verdict = history.judge(await readRows(pair.primary.urlOf(name)))
  const { acknowledged, taken, notStored, unknown, ...broken } = verdict
  report(`${acknowledged} answered 200, ${taken} refused for a taken id`)
  report(`${notStored} "nothing was stored", ${unknown} "outcome unknown"`)
  describe(
    'from the kill to the next 200',
    outages.map(({ sinceKill }) => sinceKill),
  )
  const times = outages.map(({ sincePromotion }) => sincePromotion)
  describe('from the promotion to the next 200', times)
  judge('ms from the promotion to the next 200', Math.max(...times), 1_000)
  judge('ms of the slowest reply', history.slowestMs, 10_000)
  for (const [what, ids] of Object.entries(broken)) judge(what, ids.length, 0)
} finally {
  await pair.stop()
  report(`${Math.round((performance.now() - begin) / 1000)} s`)
}
