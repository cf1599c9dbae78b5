import { statfsSync } from 'node:fs'
import { startChild } from './child.ts'
import { holdClientContest } from './client/contest.ts'
import { placeSqliteDatabase } from './databases.ts'
import { makeDataFolder } from './disk.ts'
import { holdEndurance } from './endurance/contest.ts'
import { holdGrowth } from './growth/contest.ts'
import {
  BYTES_OF_PLANT,
  KEPT_FOLDER,
  missingStores,
  PLANTS_LOADED_PER_SECOND,
} from './growth/stores.ts'
import type { Options } from './options.ts'
import type { PartMeasurements, PartName } from './report/results.ts'

/** How many plants are stored already where the growth of a store is measured. */
export const SIZES = [0, 1e7, 1e8]

function say(what: string): void {
  process.stderr.write(`${what}\n`)
}

/** What a part needs: an empty folder on the disk that is measured, and the load. */
async function withLoad<Result>(
  measure: (folder: string, load: ReturnType<typeof startChild>) => Promise<Result>,
): Promise<Result> {
  const load = startChild('./load/load.ts')
  try {
    return await measure(makeDataFolder(), load)
  } finally {
    await load.stop()
  }
}

function measureClient({ rounds, seconds }: Options) {
  const onRound = (round: number) => {
    say(round > 0 ? `round ${round} of ${rounds}: client` : 'warm-up: client')
  }
  return holdClientContest({ rounds, seconds, onRound })
}

function measureEndurance({ minutes, loops }: Options) {
  const onMinute = (minute: number) => say(`minute ${minute} of ${minutes}`)
  return withLoad((folder, load) => {
    const database = placeSqliteDatabase(folder)
    return holdEndurance({ minutes, minuteSeconds: 60, loops, folder, database, load, onMinute })
  })
}

/**
 * Says how much disk and time are needed.
 * @throws when the disk has less
 */
function announceGrowth(folder: string): void {
  const missing = missingStores(SIZES)
  const plants = missing.reduce((sum, size) => sum + size, 0)
  // One copy at a time, of the largest.
  const bytes = (plants + Math.max(...SIZES)) * BYTES_OF_PLANT
  const minutes = Math.ceil(plants / PLANTS_LOADED_PER_SECOND / 60)
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const gigabytes = (count: number) => `${(count / 1e9).toFixed(1)} GB`
  if (plants > 0) say(`loads ${missing.join(' and ')} plants, which takes about ${minutes} minutes`)
  say(`needs ${gigabytes(bytes)} of disk; ${gigabytes(free)} are free`)
  if (free < bytes) throw new Error('the disk has too little room')
}

function measureGrowth({ rounds, seconds, loops }: Options) {
  const onRound = (round: number, stored: number) => {
    say(`round ${round} of ${rounds}: ${stored} plants stored`)
  }
  return withLoad((folder, load) => {
    announceGrowth(folder)
    const folders = { folder, keptFolder: KEPT_FOLDER }
    return holdGrowth({ rounds, seconds, loops, sizes: SIZES, ...folders, load, onRound })
  })
}

/** Measures each part. @throws when a reply was wrong, or something was not as it must be */
export const measurePart: {
  readonly [Name in PartName]: (options: Options) => Promise<PartMeasurements[Name][]>
} = { client: measureClient, endurance: measureEndurance, growth: measureGrowth }
