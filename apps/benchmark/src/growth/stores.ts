import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DATA_FOLDER } from '../disk.ts'
import { PROGRAM_PATH } from '../program.ts'
import { makeStoredPlants } from './stored-plants.ts'

/** A file of SQLite with many plants; it is kept, and whoever measures takes a copy. */
export interface KeptStore {
  readonly plants: number
  readonly path: string
  readonly bytes: number
}

/** As measured, with the room that a page of random ids leaves. */
export const BYTES_OF_PLANT = 40

/** As measured with two cores that others use as well. */
export const PLANTS_LOADED_PER_SECOND = 75_000

/** Where stores are kept from run to run. */
export const KEPT_FOLDER = join(DATA_FOLDER, 'growth')

function pathOf(plants: number, folder: string): string {
  return join(folder, `plants-${plants}.db`)
}

/** What is not kept yet. */
export function missingStores(sizes: readonly number[]): number[] {
  return sizes.filter((plants) => plants > 0 && !existsSync(pathOf(plants, KEPT_FOLDER)))
}

/** Loads plants by the server's `load`, whose messages go to our standard error. */
async function load(plants: number, path: string): Promise<void> {
  const args = ['load', '-', '--format', 'csv', '--database-url', `sqlite:${path}`]
  const child = spawn(process.execPath, [PROGRAM_PATH, ...args], {
    env: {},
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const exited = once(child, 'exit')
  const sent = pipeline(Readable.from(makeStoredPlants(plants)), child.stdin)
  sent.catch(() => {})
  const [code, signal] = await exited
  if (code !== 0) throw new Error(`load of ${plants} plants ended with ${code ?? signal}`)
  // What was cut off is a whole file to who reads it.
  await sent
}

/**
 * Makes the store of so many plants, unless an earlier run has.
 * @throws when `load` fails
 */
export async function keepStore(plants: number, keptFolder: string): Promise<KeptStore> {
  const path = pathOf(plants, keptFolder)
  if (!existsSync(path)) {
    const folder = join(keptFolder, `made-${plants}`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    const made = join(folder, 'plants.db')
    await load(plants, made)
    // Without a log that is left there, the file would not be whole.
    if (readdirSync(folder).length > 1) throw new Error(`${folder} has more than the store`)
    renameSync(made, path)
    rmSync(folder, { recursive: true })
  }
  return { plants, path, bytes: statSync(path).size }
}
