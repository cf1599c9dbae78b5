import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../program.ts'

const SCRAPE_EVERY_MS = 1_000
const BACKUP_EVERY_MS = 60_000

/** As operations/plant-store-backup.service has it. */
const BACKUP_NICENESS = 10

/** What operators do beside the load. */
export interface Disturbances {
  /** The longest scrape since it was asked last, in ms. */
  takeMaxScrapeMs(): number
  /** Ends them. @throws when one of them failed; gives how many backups were made */
  stop(): Promise<number>
}

async function repeat(everyMs: number, signal: AbortSignal, act: () => Promise<void>) {
  while (!signal.aborted) {
    const startedAt = performance.now()
    await act()
    const restMs = Math.max(0, everyMs - (performance.now() - startedAt))
    await sleep(restMs, undefined, { signal }).catch(() => {})
  }
}

/** Begins a scrape each second and a backup each minute, until it is stopped. */
export function startDisturbances({
  folder,
  databaseUrl,
  metricsUrl,
}: {
  folder: string
  databaseUrl: string
  metricsUrl: string
}): Disturbances {
  const stopping = new AbortController()
  let maxScrapeMs = 0
  let backups = 0
  const scrape = async () => {
    const startedAt = performance.now()
    const response = await fetch(metricsUrl)
    if (!response.ok) throw new Error(`${metricsUrl} replied ${response.status}`)
    await response.text()
    maxScrapeMs = Math.max(maxScrapeMs, performance.now() - startedAt)
  }
  const backUp = async () => {
    const to = ['--folder', join(folder, 'backups'), '--keep', '1']
    await runCommand(['backup', ...to, '--database-url', databaseUrl], BACKUP_NICENESS)
    backups++
  }
  const done = Promise.all([
    repeat(SCRAPE_EVERY_MS, stopping.signal, scrape),
    repeat(BACKUP_EVERY_MS, stopping.signal, backUp),
  ])
  done.catch(() => {})
  return {
    takeMaxScrapeMs() {
      const taken = maxScrapeMs
      maxScrapeMs = 0
      return taken
    },
    async stop() {
      stopping.abort()
      await done
      return backups
    },
  }
}
