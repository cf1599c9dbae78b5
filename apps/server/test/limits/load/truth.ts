import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Pressed } from './press.ts'

/** Where replies and database disagree; both lists should be empty. */
export function findLies(databasePath: string, pressed: readonly Pressed[]) {
  const database = new DatabaseSync(databasePath, { readOnly: true })
  try {
    const rows = database.prepare('SELECT id FROM plants').all()
    const stored = new Set(rows.map(({ id }) => Number(id)))
    return {
      /** Answered 200, and not stored. */
      lost: pressed.flatMap(({ acknowledged }) => acknowledged).filter((id) => !stored.has(id)),
      /** Answered "surely not stored", and stored. */
      storedThough: pressed.flatMap(({ refused }) => refused).filter((id) => stored.has(id)),
    }
  } finally {
    database.close()
  }
}

/** The memory that a process holds now, in MB (proc(5), VmRSS). */
export function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_024
}

const SAMPLE_MS = 250

/** Samples the memory of a process, in MB. */
export function watchMemory(pid: number) {
  const samples = [memoryOf(pid)]
  const timer = setInterval(() => samples.push(memoryOf(pid)), SAMPLE_MS)
  return {
    /** The largest since the start. */
    get largest() {
      return Math.max(...samples)
    },
    /** The largest of the first and of the second half of all samples. */
    halves(): readonly [first: number, second: number] {
      const middle = Math.ceil(samples.length / 2)
      return [Math.max(...samples.slice(0, middle)), Math.max(...samples.slice(middle - 1))]
    },
    stop: () => clearInterval(timer),
  }
}
