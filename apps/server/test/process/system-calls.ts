import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { startProgram } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'

/** Whether system calls can be traced here: strace is a package of Linux distributions. */
export const needsStrace = needs('strace', spawnSync('strace', ['-V']).status === 0)

/** Traces a process from now on; gives what ends that. */
async function attach(pid: number, options: readonly string[]): Promise<() => Promise<void>> {
  const tracer = startProgram(['strace', '-f', '-p', String(pid), ...options])
  await tracer.until(() => tracer.texts.err.includes('attached'))
  return () => tracer.kill('SIGINT')
}

/** Makes a system call of a process fail with an error from now on; gives the way back. */
export function failSystemCall(pid: number, call: string, error: string) {
  return attach(pid, ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}`])
}

/**
 * Puts calls that another thread's calls interrupted together again. A call counts where it ended,
 * but a write to a socket where it began: what it says is out from then on.
 */
export function joinInterrupted(lines: readonly string[]): string[] {
  const begun = new Map<string, string>()
  return lines.flatMap((line) => {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(call) ?? []
    if (beginning !== undefined) {
      begun.set(pid, beginning)
      return /^writev?\(/.test(call) ? [beginning] : []
    }
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(call) ?? []
    if (end === undefined) return [call]
    const whole = `${begun.get(pid) ?? ''}${end}`
    return /^writev?\(/.test(whole) ? [] : [whole]
  })
}

/**
 * Records writes, syncs and looks at files of a process, in order and by file or socket; gives the
 * lines at the end.
 */
export async function recordSystemCalls(pid: number): Promise<() => Promise<string[]>> {
  const file = join(temporaryFolder(), 'calls')
  const calls = 'trace=fsync,fdatasync,pwrite64,write,writev,%%stat'
  const detach = await attach(pid, ['-y', '-s', '64', '-o', file, '-e', calls])
  return async () => {
    await detach()
    return joinInterrupted(readFileSync(file, 'utf8').split('\n'))
  }
}

/** Fails unless there is a call of each kind, the last of each in this order. */
export function expectInOrder(calls: readonly string[], kinds: readonly RegExp[]): void {
  const order = kinds.map((kind) => calls.findLastIndex((call) => kind.test(call)))
  expect(order).not.toContain(-1)
  expect(order).toEqual(order.toSorted((one, other) => one - other))
}
