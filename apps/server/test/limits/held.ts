import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Connections that send this text and read nothing, or send on at full speed. */
export interface Held {
  readonly port: number
  readonly connections: number
  readonly text: string
  readonly sendsOn?: boolean
}

/** Opens them until the test ends, from a separate process, so that they cost this one nothing. */
export async function holdConnections(held: Held): Promise<void> {
  const child = fork(join(import.meta.dirname, 'hold.ts'), { serialization: 'advanced' })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.send(held)
  await once(child, 'message')
}
