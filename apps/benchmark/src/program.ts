import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PROGRAM } from './contestants.ts'

/** The path of the built program of our server. */
export const PROGRAM_PATH = fileURLToPath(import.meta.resolve(PROGRAM))

/** What a command of our server prints, run as an operator does. @throws when it fails */
export async function runCommand(args: readonly string[]): Promise<string> {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [PROGRAM_PATH, ...args], { env: {} })
  return stdout
}
