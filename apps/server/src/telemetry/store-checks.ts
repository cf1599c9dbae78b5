import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { CheckObserver } from '../store/observer.ts'
import { operatorNames } from '../store/operator-names.ts'
import type { Store } from '../store/store.ts'

/** After the start, which has enough to read. */
const FIRST_AFTER_MS = 10_000
const EVERY_MS = 86_400_000

function describeDamaged(): string {
  return (
    'the database is damaged, and creates go on; restore a backup, as PlantStoreDamaged in ' +
    `docs/runbook.md says. Try: ${operatorNames.doctor}`
  )
}

async function checkOnce(
  check: NonNullable<Store['check']>,
  log: Logger,
  observer: CheckObserver | undefined,
): Promise<void> {
  const startedAt = performance.now()
  let plants = 0
  const damage = await check((count) => {
    plants += count
    observer?.plantsChecked(count)
  })
  observer?.checkEnded(damage !== undefined)
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  if (damage === undefined) log.info({ plants, seconds }, 'every plant was read and is undamaged')
  else log.error({ damage, plants, seconds }, describeDamaged())
}

/**
 * From now on checks what is stored once a day, beside creates, until `signal` is aborted. Does
 * nothing for a store that leaves this to its engine.
 */
export async function runChecks(
  { check }: Pick<Store, 'check'>,
  log: Logger,
  observer: CheckObserver | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (check === undefined) return
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {})
  await pause(FIRST_AFTER_MS)
  while (!signal.aborted) {
    try {
      await checkOnce(check, log, observer)
    } catch (err) {
      if (!signal.aborted) log.warn({ err }, 'what is stored could not be checked')
    }
    await pause(EVERY_MS)
  }
}
