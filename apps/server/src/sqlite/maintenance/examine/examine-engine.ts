import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { sqliteVersionOf } from '../../database/connect.ts'
import { openDatabase } from '../../database/database.ts'
import { fixOfError } from './fix-of-error.ts'

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

const about = healthChecksOf('engine')

async function openScratch(folder: string): Promise<HealthCheck> {
  const scratch = mkdtempSync(join(folder, '.doctor-'))
  try {
    const database = await openDatabase(join(scratch, 'scratch.db'))
    const version = sqliteVersionOf(database)
    database.close()
    return about.ok(`SQLite ${version}; write-ahead log and synchronous=FULL hold in ${folder}`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Whether SQLite keeps its promises in a folder: tried with a scratch store that is removed. */
export async function examineEngine(folder: string): Promise<HealthCheck> {
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type)
  if (network !== undefined) {
    return about.failure(
      `${folder} is on ${network}`,
      'keep the file on a local disk, or use PostgreSQL (https://sqlite.org/wal.html)',
    )
  }
  try {
    return await openScratch(folder)
  } catch (error) {
    const elsewhere = `name a file on another disk in PLANT_STORE_DATABASE_URL`
    return about.failedWith(error, fixOfError(error, folder), elsewhere)
  }
}
