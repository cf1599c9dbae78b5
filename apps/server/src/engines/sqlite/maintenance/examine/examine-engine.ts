import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { type HealthCheck, healthChecksOf } from '../../../../store/health-check.ts'
import { operatorNames } from '../../../../store/operator-names.ts'
import { sqliteVersionOf } from '../../database/connect.ts'
import { openDatabase } from '../../database/database.ts'

/** `f_type` of file systems over a network (statfs(2)), whose locks SQLite cannot rely on. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9P'],
])

/** Whether SQLite keeps its promises in a folder: tried with a scratch store that is removed. */
export async function examineEngine(folder: string): Promise<HealthCheck> {
  const about = healthChecksOf('engine')
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(folder).type)
  if (network !== undefined) {
    return about.failure(
      `${folder} is on ${network}`,
      'keep the file on a local disk, or use PostgreSQL (https://sqlite.org/wal.html)',
    )
  }
  let scratch: string | undefined
  try {
    scratch = mkdtempSync(join(folder, '.doctor-'))
    const database = await openDatabase(join(scratch, 'scratch.db'))
    const version = sqliteVersionOf(database)
    database.close()
    return about.ok(`SQLite ${version}; write-ahead log and synchronous=FULL hold in ${folder}`)
  } catch (error) {
    const fix = `another folder in ${operatorNames.databaseUrl}, on a local disk`
    return about.failure((error as Error).message, fix)
  } finally {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  }
}
