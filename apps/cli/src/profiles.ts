import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import envPaths from 'env-paths'
import { CliError, codeOf } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** A login: a token, and the one URL that it is for. */
export interface Profile {
  readonly baseUrl: string
  readonly token: string
}

/** The profile of those who name none. */
export const DEFAULT_PROFILE = 'default'

/** Also the name of a file, on every system. */
const NAME = /^[a-z\d][a-z\d._-]{0,63}$/i

const ENDING = '.json'
const OTHERS = 0o077

function folder(): string {
  return join(envPaths('plant-store', { suffix: '' }).config, 'profiles')
}

/** @throws CliError for what is no name. */
export function pathOfProfile(name: string): string {
  if (NAME.test(name)) return join(folder(), `${name}${ENDING}`)
  throw new CliError(`a profile cannot have this name: ${name}`, exitCodes.usage, {
    hint: 'up to 64 letters, digits, dots, dashes and underscores',
  })
}

/** The names of the profiles there are. */
export async function listProfiles(): Promise<string[]> {
  const files = await readdir(folder()).catch(() => [])
  const names = files.filter((file) => file.endsWith(ENDING))
  return names.map((file) => file.slice(0, -ENDING.length)).filter((name) => NAME.test(name))
}

function parse(text: string): Profile | undefined {
  try {
    const { baseUrl, token } = JSON.parse(text)
    return typeof baseUrl === 'string' && typeof token === 'string' ? { baseUrl, token } : undefined
  } catch {
    return undefined
  }
}

/** Takes the rights of others from a file or folder. Windows has none of these. */
async function makePrivate(path: string, terminal: Terminal): Promise<void> {
  if (process.platform === 'win32') return
  const { mode } = await stat(path)
  if ((mode & OTHERS) === 0) return
  const handle = await open(path)
  try {
    await handle.chmod(mode & ~OTHERS & 0o777)
  } finally {
    await handle.close()
  }
  terminal.err(
    `Others could read ${path}; now only you can. If others use this machine, have its token revoked.`,
  )
}

async function readText(path: string, terminal: Terminal): Promise<string | undefined> {
  try {
    await makePrivate(path, terminal)
    const handle = await open(path)
    try {
      return await handle.readFile('utf8')
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw new CliError(`${path} cannot be read: ${codeOf(error)}`, exitCodes.failure, {
      hint: 'have it belong to you, readable by you alone: chmod 600',
      cause: error,
    })
  }
}

/**
 * Reads a profile; undefined where there is none. Where others could read it, that ends now.
 * @throws CliError where it cannot be read or is none; nothing of it is shown.
 */
export async function readProfile(name: string, terminal: Terminal): Promise<Profile | undefined> {
  const path = pathOfProfile(name)
  const text = await readText(path, terminal)
  if (text === undefined) return undefined
  const profile = parse(text)
  if (profile !== undefined) return profile
  throw new CliError(`${path} holds no profile`, exitCodes.usage, {
    hint: `plant-store login URL --profile ${name}, which replaces it`,
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
 * Saves a profile in place of the one of that name, and returns the path of its file.
 * @throws CliError where it cannot be written.
 */
export async function saveProfile(
  name: string,
  profile: Profile,
  terminal: Terminal,
): Promise<string> {
  const path = pathOfProfile(name)
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await makePrivate(dirname(path), terminal)
    await writePrivately(path, `${JSON.stringify(profile, undefined, 2)}\n`)
    return path
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${codeOf(error)}`, exitCodes.failure, {
      hint: 'another XDG_CONFIG_HOME, or PLANT_STORE_BASE_URL and PLANT_STORE_TOKEN without a login',
      cause: error,
    })
  }
}

/** Removes a profile, whatever its file holds; false where there is none. */
export async function removeProfile(name: string): Promise<boolean> {
  try {
    await rm(pathOfProfile(name))
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    if (error instanceof CliError) throw error
    throw new CliError(`the profile cannot be removed: ${codeOf(error)}`, exitCodes.failure, {
      hint: `rm ${pathOfProfile(name)}`,
      cause: error,
    })
  }
}
