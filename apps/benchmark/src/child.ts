import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly pid: number
  /** The next message of the process. @throws when the process ends before */
  receive<Message>(): Promise<Message>
  /** The reply of the process to a message. @throws when the process ends before */
  ask<Reply>(question: object | string): Promise<Reply>
  /** What the process prints, up to the match. @throws when the process ends before */
  waitFor(pattern: RegExp): Promise<string>
  /** Asks the process to end, and waits. @throws when it ends with a failure */
  stop(): Promise<void>
}

/** How long a process may take to end before it is killed. */
const STOP_MS = 15_000

function print(child: ChildProcess, pattern: RegExp): Promise<string> {
  let printed = ''
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk) => {
      printed += chunk
      if (pattern.test(printed)) resolve(printed)
    })
  })
}

/** Of util-linux; elsewhere nothing is pinned. */
export const TASKSET = '/usr/bin/taskset'

/** Not the first, which often serves the interrupts of the machine. */
const CORE = Math.min(1, availableParallelism() - 1)

export interface ChildOptions {
  readonly preload?: string | undefined
  /** Whether all of its threads share one core. */
  readonly isPinned?: boolean
}

/** A module as JavaScript: a server that had to strip its types would need 19 MiB more. */
function toUrl(module: string): string {
  const source = readFileSync(fileURLToPath(import.meta.resolve(module)), 'utf8')
  return `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(source))}`
}

/**
 * Starts a program with Node.js, in an empty environment: whoever measures may have settings of a
 * server. Its standard error goes to ours; a program or a module is named as an import names it.
 */
export function startChild(
  program: string,
  args: readonly string[] = [],
  { preload, isPinned = false }: ChildOptions = {},
): Child {
  const preloads = [toUrl('./usage.ts'), ...(preload ? [import.meta.resolve(preload)] : [])]
  const imports = preloads.flatMap((module) => ['--import', module])
  const [execPath, pin] =
    isPinned && existsSync(TASKSET)
      ? [TASKSET, ['--cpu-list', String(CORE), process.execPath]]
      : [process.execPath, []]
  const child = fork(fileURLToPath(import.meta.resolve(program)), args, {
    execPath,
    execArgv: [...pin, ...imports],
    env: {},
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  const failed = exited.then(([code, signal]) => {
    throw new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}`)
  })
  failed.catch(() => {})
  async function receive<Message>(): Promise<Message> {
    const [message] = await Promise.race([once(child, 'message'), failed])
    return message
  }
  return {
    pid: child.pid ?? Number.NaN,
    receive,
    ask(question) {
      child.send(question)
      return receive()
    },
    waitFor: (pattern) => Promise.race([print(child, pattern), failed]),
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const [code, signal] = await exited
      clearTimeout(timer)
      if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code ?? signal}`)
    },
  }
}
