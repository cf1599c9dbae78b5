import { MAIN, startProgram } from '../../../../test/start-program.ts'

/** Starts a line of shell in which `server` is the server's program, run by the words `under`; pipes fail with their parts. */
export function startShell(folder: string, line: string, under = '') {
  const server = `server() { ${under} '${process.execPath}' '${MAIN}' "$@"; }`
  const words = ['bash', '-o', 'pipefail', '-c', `${server}\n${line}`]
  return startProgram(words, { cwd: folder, env: { PATH: process.env.PATH }, detached: true })
}

/** Runs a line of shell to its end. */
export function runShell(folder: string, line: string, under?: string) {
  return startShell(folder, line, under).ended
}
