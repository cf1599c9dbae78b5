import { execFile } from 'node:child_process'
import { env } from 'node:process'

/**
 * Runs a script with bash until it ends.
 * @param more environment variables beside those of this process
 * @returns what it printed on standard output
 * @throws an Error with all that it printed, if it ends with another code than 0
 */
export function runScript(
  folder: string,
  script: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: folder, env: { ...env, ...more }, maxBuffer: 2 ** 26 }
    execFile('bash', ['-eu', script, ...args], options, (error, out, err) => {
      if (error === null) resolve(out)
      else reject(new Error(`${script} in ${folder}: ${error.message}\n${out}${err}`))
    })
  })
}
