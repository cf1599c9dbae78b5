import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  /** The next message of the process. @throws when it ends instead. */
  receive<Message>(): Promise<Message>
  /** The process's answer to a message. @throws when it ends instead. */
  ask<Answer>(question: object | string): Promise<Answer>
  /** Lets the process end, by `farewell` where it needs one. @throws when it ends with a failure. */
  stop(farewell?: string): Promise<void>
}

/** How long a process may take to end before it is killed. */
const STOP_MS = 15_000

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const cancel = new AbortController()
  const { signal } = cancel
  try {
    return await Promise.race([
      once(child, 'message', { signal }).then(([message]) => message as Message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${child.spawnargs.slice(1).join(' ')} ended with ${code}`)
      }),
    ])
  } finally {
    cancel.abort()
  }
}

/** Starts a program of this package with Node; its standard error goes to ours. */
export function startChild(program: string, args: readonly string[] = []): Child {
  const path = fileURLToPath(new URL(program, import.meta.url))
  const child = fork(path, args, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const exited = once(child, 'exit')
  return {
    receive: () => nextMessage(child),
    ask(question) {
      child.send(question)
      return nextMessage(child)
    },
    async stop(farewell) {
      if (farewell === undefined) child.disconnect()
      else if (child.connected) child.send(farewell)
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const [code] = await exited
      clearTimeout(timer)
      if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}`)
    },
  }
}
