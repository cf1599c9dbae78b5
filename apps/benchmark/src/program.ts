import { execFile } from 'node:child_process'
import { setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PROGRAM } from './contestants.ts'

/** The path of the built program of our server. */
export const PROGRAM_PATH = fileURLToPath(import.meta.resolve(PROGRAM))

/**
 * What a command of our server prints, run as an operator does. `niceness` is that of setpriority(2).
 * @throws when it fails
 */
export async function runCommand(args: readonly string[], niceness = 0): Promise<string> {
  const running = promisify(execFile)(process.execPath, [PROGRAM_PATH, ...args], { env: {} })
  if (running.child.pid !== undefined) setPriority(running.child.pid, niceness)
  const { stdout } = await running
  return stdout
}
