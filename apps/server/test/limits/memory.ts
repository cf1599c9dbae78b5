import { readFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** The memory that a process holds now, in MB (proc(5), VmRSS). */
export function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1_024
}

const SAMPLE_MS = 250

/** Samples the memory of a process, in MB, until `end` or the end of the test. */
export function watchMemory(pid: number) {
  const samples = [memoryOf(pid)]
  const timer = setInterval(() => samples.push(memoryOf(pid)), SAMPLE_MS)
  const end = () => clearInterval(timer)
  onTestFinished(end)
  const largest = (from: number, to?: number) => Math.max(...samples.slice(from, to))
  return {
    end,
    /** The largest since the start. */
    largest: () => largest(0),
    /** By how much that of the second half is larger than that of the first. */
    growth: () => largest(samples.length >> 1) - largest(0, (samples.length >> 1) + 1),
  }
}
