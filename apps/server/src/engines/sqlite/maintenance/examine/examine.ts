import { dirname } from 'node:path'
import { type Examination, healthChecksOf } from '../../../../store/health-check.ts'
import { sizeOf } from '../../files/measure-files.ts'
import { realPathOf } from '../../files/real-path.ts'
import { examineEngine } from './examine-engine.ts'
import { examineRoom } from './examine-room.ts'
import { examineStore } from './examine-store.ts'
import { examineSync } from './examine-sync.ts'

function examineMissing(path: string): Examination {
  const check = healthChecksOf('store').ok(`there is none in ${path} yet; the server makes it`)
  return { checks: [check], tokens: undefined, recordedTimes: [] }
}

/** The folder of a file, or what is there of it. */
function findFolder(path: string): string {
  let folder = dirname(path)
  while (sizeOf(folder) === undefined) folder = dirname(folder)
  return folder
}

/** Checks what "200 means durable" rests on for a SQLite store, without changing it. */
export async function examineSqlite(file: string): Promise<Examination> {
  const path = realPathOf(file)
  const folder = findFolder(path)
  const isMissing = sizeOf(path) === undefined && sizeOf(`${path}-wal`) === undefined
  const examination = isMissing ? examineMissing(path) : await examineStore(path)
  return {
    ...examination,
    checks: [
      await examineEngine(folder),
      ...examination.checks,
      examineSync(folder),
      examineRoom(folder),
    ],
  }
}
