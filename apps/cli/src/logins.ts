import { randomUUID } from 'node:crypto'
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import envPaths from 'env-paths'
import { CliError, codeOf } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** A token, and the one URL that it is for. */
export interface Login {
  readonly baseUrl: string
  readonly token: string
}

const OTHERS = 0o077

/** The file that holds the logins of this user, a list of Login, the last one saved at its end. */
export function pathOfLogins(): string {
  return join(envPaths('plant-store', { suffix: '' }).config, 'logins.json')
}

/** Whether two URLs are those of one plant store. */
export function isSamePlace(one: string, other: string): boolean {
  const normalize = (url: string) => (URL.canParse(url) ? new URL(url).href : url)
  return normalize(one).replace(/\/+$/, '') === normalize(other).replace(/\/+$/, '')
}

function isLogin(value: unknown): value is Login {
  const { baseUrl, token } = Object(value)
  return typeof baseUrl === 'string' && typeof token === 'string'
}

/** Takes the rights of others from a file or folder. Windows has none of these. */
async function makePrivate(path: string, terminal: Terminal): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(path)
  if ((mode & OTHERS) === 0) return
  await chmod(path, mode & ~OTHERS & 0o777)
  terminal.err(
    `Others could read ${path}; now only you can. If others use this machine, have its token revoked.`,
  )
}

/**
 * The logins there are, the last one saved at the end. Where others could read them, that ends now.
 * @throws CliError where they cannot be read; nothing of them is shown.
 */
export async function readLogins(terminal: Terminal): Promise<readonly Login[]> {
  const path = pathOfLogins()
  try {
    await makePrivate(path, terminal)
    const logins: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (Array.isArray(logins) && logins.every(isLogin)) return logins
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    if (!(error instanceof SyntaxError)) {
      throw new CliError(`${path} cannot be read: ${codeOf(error)}`, exitCodes.failure, {
        hint: 'have it belong to you, readable by you alone: chmod 600',
      })
    }
  }
  throw new CliError(`${path} holds no logins`, exitCodes.usage, {
    hint: 'plant-store login URL, which replaces it',
  })
}

/** Writes a file that only its owner reads, all of it or nothing, whoever else writes it now. */
async function writePrivately(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
    await handle.close()
    await rename(draft, path)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(draft, { force: true })
    throw error
  }
}

/**
 * Saves a login in place of an earlier one for its URL, and returns the path of the file.
 * @throws CliError where it cannot be written.
 */
export async function saveLogin(login: Login, terminal: Terminal): Promise<string> {
  const path = pathOfLogins()
  // A file that holds no logins is replaced.
  const earlier = await readLogins(terminal).catch(() => [])
  const others = earlier.filter(({ baseUrl }) => !isSamePlace(baseUrl, login.baseUrl))
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await makePrivate(dirname(path), terminal)
    await writePrivately(path, `${JSON.stringify([...others, login], undefined, 2)}\n`)
    return path
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${codeOf(error)}`, exitCodes.failure, {
      hint: 'another XDG_CONFIG_HOME, or PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN without a login',
      cause: error,
    })
  }
}
