import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Pressed } from './press.ts'

/** Where replies and store disagree; both lists should be empty. */
export interface Lies {
  /** Answered 200, and not stored. */
  readonly lost: number[]
  /** Answered "surely not stored", and stored. */
  readonly storedThough: number[]
}

/** Compares every reply with the database. */
export function findLies(databasePath: string, pressed: readonly Pressed[]): Lies {
  const database = new DatabaseSync(databasePath, { readOnly: true })
  try {
    const rows = database.prepare('SELECT id FROM plants').all()
    const stored = new Set(rows.map(({ id }) => Number(id)))
    return {
      lost: pressed.flatMap(({ acknowledged }) => acknowledged).filter((id) => !stored.has(id)),
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

export interface MemoryWatch {
  /** The largest since the start, in MB. */
  readonly largest: number
  /** The largest of the first and of the second half of all samples. */
  halves(): readonly [first: number, second: number]
  stop(): void
}

const SAMPLE_MS = 250

/** Samples the memory of a process. */
export function watchMemory(pid: number): MemoryWatch {
  const samples = [memoryOf(pid)]
  const timer = setInterval(() => samples.push(memoryOf(pid)), SAMPLE_MS)
  return {
    get largest() {
      return Math.max(...samples)
    },
    halves() {
      const middle = Math.ceil(samples.length / 2)
      return [Math.max(...samples.slice(0, middle)), Math.max(...samples.slice(middle - 1))]
    },
    stop: () => clearInterval(timer),
  }
}
