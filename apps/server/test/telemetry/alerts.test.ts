import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { usePostgres } from '../postgres/use-postgres.ts'
import { needsSmallDisk } from '../process/small-disk.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { arrangeConditions, type Condition } from './conditions.ts'
import {
  needsPrometheus,
  OPERATIONS,
  type Prometheus,
  startPrometheus,
} from './prometheus-server.ts'

const RULES = readFileSync(join(OPERATIONS, 'alerts.yml'), 'utf8')

const SECONDS: Record<string, number> = { m: 1, h: 1, d: 24 }

/**
 * The rules as they are shipped, but that a minute lasts a second, and so does an hour. Processes
 * start no faster here, so what restarts change is looked for within a minute.
 */
function shortenTime(rules: string): string {
  return (
    rules
      .replaceAll(/(?<=for: |\[|offset )(\d+)([mhd])\b/g, (_, count, unit) => {
        return `${Number(count) * (SECONDS[unit] ?? 0)}s`
      })
      .replace('3 * 86400', '3 * 24')
      .replace('26 * 3600', '26')
      // Tokens that are made for two days or less are no concern of the alert.
      .replace('2 * 86400', '3 * 86400')
      .replace(/((?:start_time_seconds|unknown_outcomes_total)\S*)\[15s\]/g, '$1[60s]')
  )
}

function hostOf({ server }: Condition): string {
  return new URL(server.operationsUrl).host
}

/** How readFired shows the alerts that a condition must cause. */
function toRegExp(condition: Condition): RegExp[] {
  return condition.alerts.map(
    (alert) => new RegExp(`^(?:${hostOf(condition)}|${condition.job}) ${alert}$`),
  )
}

/**
 * A machine that is busy with other tests may rightly cause them on every server: a scrape, too, has
 * but a second.
 */
const OF_A_BUSY_MACHINE = / PlantStore(?:CommitsSlow|Down|EventLoopBlocked)$/

/** Fires while Prometheus starts: a second is short for its first scrape. */
const NOTHING_SCRAPED = 'plant-store PlantStoreDown'

/** Each alert that ever fired: its instance, or else its job, its name, and the reason if it has one. */
async function readFired(prometheus: Prometheus): Promise<string[]> {
  const samples = await prometheus.query('count_over_time(ALERTS{alertstate="firing"}[5m])')
  const fired = samples.map(({ metric: { instance, job, alertname, reason } }) =>
    [instance ?? job, alertname, reason].filter((part) => part !== undefined).join(' '),
  )
  return fired.filter((alert) => alert !== NOTHING_SCRAPED)
}

/** With SQLite the server ends before it is scraped; operations/alerts.test.yml has it. */
const WITHOUT_A_FAULT = ['PlantStoreOutcomeUnknown']

const WAIT_LIMIT_MS = 120_000

const SETTLE_LIMIT_MS = 60_000

async function waitForAll(prometheus: Prometheus, expected: readonly RegExp[]): Promise<string[]> {
  const deadline = performance.now() + WAIT_LIMIT_MS
  for (;;) {
    const fired = await readFired(prometheus)
    const missing = expected.filter((one) => !fired.some((alert) => one.test(alert)))
    if (missing.length === 0) return fired
    if (performance.now() > deadline) throw new Error(`${missing} did not fire; ${fired} did`)
    await sleep(500)
  }
}

const postgres = usePostgres()

test('each alert fires where it should, and none for a server that is fine under load', {
  ...needsPrometheus,
  ...needsSmallDisk,
  timeout: 240_000,
}, async () => {
  const conditions = await arrangeConditions(postgres)
  const alerts = join(temporaryFolder(), 'alerts.yml')
  writeFileSync(alerts, shortenTime(RULES))
  const targets = conditions.map((one) => ({ ...one, address: hostOf(one) }))
  const prometheus = await startPrometheus(targets, alerts)
  await prometheus.waitFor(`count(up == 1) == ${conditions.length}`)
  const early = conditions.filter(({ isThereFirst }) => isThereFirst).flatMap(toRegExp)
  const mayBe = [...early, OF_A_BUSY_MACHINE]
  const first = await readFired(prometheus)
  expect(first.filter((alert) => !mayBe.some((one) => one.test(alert)))).toEqual([])

  const end = new AbortController()
  const provocations = conditions.map(({ provoke }) => provoke(end.signal))
  // One may be starting a server, whose folder must last until it has.
  onTestFinished(async () => {
    end.abort()
    await Promise.allSettled(provocations)
  }, SETTLE_LIMIT_MS)
  const provoked = Promise.all(provocations)
  const expected = conditions.flatMap(toRegExp)
  const failed = provoked.then(() => new Promise<never>(() => {}))
  const fired = await Promise.race([waitForAll(prometheus, expected), failed])
  const [healthy] = conditions.map(hostOf)
  const wrong = fired.filter((alert) => [healthy, 'plant-store'].includes(alert.split(' ')[0]))
  expect(wrong.filter((alert) => !OF_A_BUSY_MACHINE.test(alert))).toEqual([])
  const names = new Set(fired.map((alert) => alert.split(' ')[1]))
  const written = [...RULES.matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  expect([...names, ...WITHOUT_A_FAULT].toSorted()).toEqual(written.toSorted())
})
