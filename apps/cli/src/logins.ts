import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import envPaths from 'env-paths'
import { CliError, codeOf, exitCodes } from './cli-error.ts'
import type { Terminal } from './terminal.ts'

/** A token, and the one URL that it is for. */
export interface Login {
  readonly baseUrl: string
  readonly token: string
}

/** The file that holds the logins of this user, a list of Login, the last one saved at its end. */
function pathOfLogins(): string {
  return join(envPaths('plant-store', { suffix: '' }).config, 'logins.json')
}

/** Whether two URLs are those of one plant store. */
export function isSamePlace(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => {
    return (URL.canParse(url) ? new URL(url).href : url).replace(/\/+$/, '')
  })
  return first === second
}

const OTHERS = 0o077

/** Takes the rights of others from a file. Windows has none of these. */
async function makePrivate(path: string, terminal: Terminal): Promise<void> {
  const { mode } = await stat(path)
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return
  await chmod(path, mode & ~OTHERS & 0o777)
  const advice = 'If others use this machine, have its tokens revoked.'
  terminal.err(`Others could read ${path}; now only you can. ${advice}`)
}

/**
 * The logins there are. Where others could read them, that ends now.
 * @throws CliError where they cannot be read; nothing of them is shown.
 */
export async function readLogins(terminal: Terminal): Promise<readonly Login[]> {
  const path = pathOfLogins()
  try {
    await makePrivate(path, terminal)
    const logins: readonly Login[] = JSON.parse(await readFile(path, 'utf8'))
    return logins.map(({ baseUrl, token }) => ({ baseUrl: String(baseUrl), token: String(token) }))
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return []
    const why = code === undefined ? 'holds no logins' : `cannot be read: ${code}`
    const hint = 'plant-store login URL, which replaces it'
    throw new CliError(`${path} ${why}`, exitCodes.usage, hint)
  }
}

/**
 * Saves a login in place of an earlier one for its URL, and returns the path of the file. All of it
 * is there afterwards, whoever else writes it now.
 * @throws CliError where it cannot be written.
 */
export async function saveLogin(login: Login, terminal: Terminal): Promise<string> {
  const path = pathOfLogins()
  // A file that holds no logins is replaced.
  const earlier = await readLogins(terminal).catch(() => [])
  const others = earlier.filter(({ baseUrl }) => !isSamePlace(baseUrl, login.baseUrl))
  const draft = `${path}.${randomUUID()}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    const text = `${JSON.stringify([...others, login], undefined, 2)}\n`
    await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true })
    await rename(draft, path)
    return path
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    const hint =
      'another XDG_CONFIG_HOME, or PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN without a login'
    throw new CliError(`${path} cannot be written: ${codeOf(error)}`, exitCodes.failure, hint)
  }
}
