import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type Child = ReturnType<typeof startProgram>

/** How long a process may take to end before it is killed. */
const STOP_MS = 15_000

/**
 * Starts a program in an environment of its own: whoever measures may have settings of a server. Its
 * standard error goes to ours, and it ends with this process at the latest. Whatever waits for it
 * fails when it has ended.
 */
export function startProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  channels: readonly 'ipc'[] = [],
) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit', ...channels] })
  const kill = () => void child.kill('SIGKILL')
  process.prependListener('exit', kill)
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', kill)
    if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? signal}`)
  })
  const over = ended.then(() => Promise.reject(new Error(`${args.join(' ')} has ended`)))
  over.catch(() => {})
  return {
    pid: child.pid ?? Number.NaN,
    /** The reply of the process to a message. */
    async ask<Reply>(question: object): Promise<Reply> {
      child.send(question)
      const [reply] = await Promise.race([once(child, 'message'), over])
      return reply
    },
    /** What the process prints, up to the match. */
    waitFor(pattern: RegExp): Promise<string> {
      const printed = new Promise<string>((resolve) => {
        let text = ''
        child.stdout?.on('data', (chunk) => {
          text += chunk
          if (pattern.test(text)) resolve(text)
        })
      })
      return Promise.race([printed, over])
    },
    /** Waits until the process ends by itself. @throws when it ends with a failure */
    end: () => ended,
    /** Asks the process to end, and waits. @throws when it ends with a failure */
    async stop(): Promise<void> {
      child.kill('SIGTERM')
      const timer = setTimeout(kill, STOP_MS)
      await ended.finally(() => clearTimeout(timer))
    },
  }
}

/** Starts a program of this package, as an import names it, that answers messages or listens. */
export function startOwn(program: string, args: readonly string[] = []): Child {
  const path = fileURLToPath(import.meta.resolve(program))
  return startProgram(process.execPath, [path, ...args], { NODE_ENV: 'production' }, ['ipc'])
}
