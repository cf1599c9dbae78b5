import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import type { Fact, StoreFacts } from '../store/engine.ts'
import { readValue, sqliteVersionOf } from './connect.ts'
import { realPathOf } from './files.ts'
import { openForReading } from './inspect.ts'
import { readLastBackupTime } from './measure.ts'
import { NEWEST_VERSION, schemaVersionOf } from './migrations.ts'
import { inspect, openDatabase } from './open.ts'
import { describeOpenFailure, nearestOf } from './open-failure.ts'
import { readTokens } from './tokens.ts'

const DAY_MS = 86_400_000
const MEBIBYTE = 1_048_576

/** Two daily backups in a row failed. */
const OLD_BACKUP_MS = 2 * DAY_MS

/** So that there is time to react before the disk is full. */
const ENOUGH_MEBIBYTES = 1_024

/** `f_type` of file systems in memory (statfs(2)). */
const IN_MEMORY = new Set([0x01021994, 0x858458f6])

/** `f_type` of file systems over a network (statfs(2)), whose locks SQLite cannot rely on. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
])

function describeSpace(folder: string): Fact {
  const { bavail, bsize, type } = statfsSync(folder)
  const free = Math.floor((bavail * bsize) / MEBIBYTE)
  const fact = { name: 'disk', value: `${free.toLocaleString('en-US')} MiB free in ${folder}` }
  const network = NETWORK_FILE_SYSTEMS.get(type)
  if (network !== undefined) {
    const fix = 'keep the file on a local disk, or use PostgreSQL (https://sqlite.org/wal.html)'
    return { ...fact, warning: `it is on ${network}, where SQLite can lose plants`, fix }
  }
  if (IN_MEMORY.has(type)) {
    const warning = 'this is memory, which a power cut empties'
    return { ...fact, warning, fix: 'keep the file on a disk' }
  }
  if (free >= ENOUGH_MEBIBYTES) return fact
  const fix = 'make room, or make the file system larger; never delete a -wal file'
  return { ...fact, warning: 'on a full disk every create is answered 503', fix }
}

/** Opens a scratch store as a server does. */
async function tryFolder(folder: string): Promise<Fact> {
  const scratch = mkdtempSync(join(folder, '.doctor-'))
  try {
    const database = await openDatabase(join(scratch, 'scratch.db'))
    const value = `SQLite ${sqliteVersionOf(database)}, write-ahead log, synchronous=FULL`
    database.close()
    return { name: 'engine', value }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

function describeSchema(version: number): Fact {
  if (version === NEWEST_VERSION) return { name: 'schema', value: `version ${version}, the newest` }
  const fix = 'plant-store-server migrate, or start the server: either copies the store before'
  const warning = `this program has version ${NEWEST_VERSION}`
  return { name: 'schema', value: `version ${version}`, warning, fix }
}

function describeBackup(at: number | undefined, plants: number): Fact {
  const fix = 'plant-store-server backup FILE, each day by a timer'
  const value =
    at === undefined ? 'none is known' : `the last one ended ${new Date(at).toISOString()}`
  const fact = { name: 'backup', value }
  if (at === undefined) {
    return plants === 0 ? fact : { ...fact, warning: 'this store was never backed up here', fix }
  }
  const ageMs = Date.now() - at
  if (ageMs <= OLD_BACKUP_MS) return fact
  return { ...fact, warning: `that is ${Math.floor(ageMs / DAY_MS)} days ago`, fix }
}

async function readStore(path: string): Promise<StoreFacts> {
  const database = openForReading(path)
  try {
    const version = schemaVersionOf(database)
    const plants = Number(readValue(database, 'SELECT count(*) FROM plants'))
    const count = { name: 'plants', value: plants.toLocaleString('en-US') }
    const backup = describeBackup(await readLastBackupTime(path), plants)
    const tokens = version === NEWEST_VERSION ? readTokens(database) : undefined
    return { facts: [describeSchema(version), count, backup], tokens }
  } finally {
    database.close()
  }
}

/**
 * What is worth knowing of a SQLite store, which stays as it is; one that is missing stays missing.
 * @throws what keeps a server from opening it.
 */
export async function readSqliteFacts(file: string, mustExist?: boolean): Promise<StoreFacts> {
  const path = realPathOf(file)
  try {
    const version = inspect(path, mustExist)
    const folder = nearestOf(path)
    const place = [await tryFolder(folder), describeSpace(folder)]
    if (version === 0) {
      const store = { name: 'store', value: `there is none in ${path} yet; the server makes it` }
      return { facts: [store, ...place], tokens: undefined }
    }
    const { facts, tokens } = await readStore(path)
    return { facts: [{ name: 'store', value: path }, ...place, ...facts], tokens }
  } catch (error) {
    throw describeOpenFailure(error, path)
  }
}
