import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIN, startProgram } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'

const PEAK_MEMORY = join(import.meta.dirname, 'peak-memory.ts')

/** Starts a line of shell in which `server` is the server's program, run by the words `under`; pipes fail with their parts. */
export function startShell(folder: string, line: string, under = '') {
  const memory = temporaryFolder()
  const server = `server() { ${under} '${process.execPath}' --import '${PEAK_MEMORY}' '${MAIN}' "$@"; }`
  const env = { PATH: process.env.PATH, PEAK_MEMORY_FOLDER: memory }
  const words = ['bash', '-o', 'pipefail', '-c', `${server}\n${line}`]
  const program = startProgram(words, { cwd: folder, env, detached: true })
  const ended = program.ended.then(({ code, out, err }) => {
    const peaks = readdirSync(memory).map((name) => readFileSync(join(memory, name), 'utf8'))
    /** The most memory that one of the programs held. */
    const peakMemoryMiB = Math.max(...peaks.map(Number), 0) / 1024
    return { code, out, err, peakMemoryMiB }
  })
  return { ...program, ended }
}

/** Runs a line of shell to its end. */
export function runShell(folder: string, line: string, under?: string) {
  return startShell(folder, line, under).ended
}
