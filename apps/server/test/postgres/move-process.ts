import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { MAIN } from '../process/main.ts'

export interface MoveProcess {
  /** Resolves with the exit code, or null after a kill. */
  readonly ended: Promise<number | null>
  /** What standard error holds so far. */
  output(): string
  untilSaid(text: string): Promise<void>
  end(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts `move` of the store in a folder to a database; it ends with the test. */
export function startMove(folder: string, databaseUrl: string, ...flags: string[]): MoveProcess {
  const args = [MAIN, 'move', '--from', 'sqlite:./data/plants.db', ...flags]
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, PLANT_STORE_DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    err += chunk
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    ended,
    output: () => err,
    untilSaid: (text) =>
      new Promise((resolve, reject) => {
        const look = () => err.includes(text) && resolve()
        child.stderr.on('data', look)
        void ended.then(() => reject(new Error(`move ended: ${err}`)))
        look()
      }),
    end(signal) {
      child.kill(signal)
      return ended
    },
  }
}
