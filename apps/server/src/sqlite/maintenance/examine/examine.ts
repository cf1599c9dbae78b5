import { dirname } from 'node:path'
import { type Examination, type HealthCheck, healthChecksOf } from '../../../store/health-check.ts'
import { sizeOf } from '../../files/measure-files.ts'
import { realPathOf } from '../../files/real-path.ts'
import { findDenial } from './examine-access.ts'
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

/** Where nothing can be written, a scratch store would fail for the same reason. */
async function examineFolder(folder: string): Promise<HealthCheck[]> {
  const sync = examineSync(folder)
  const room = examineRoom(folder)
  return sync.level === 'failure' ? [sync, room] : [await examineEngine(folder), sync, room]
}

async function examinePath(path: string): Promise<Examination> {
  const isMissing = sizeOf(path) === undefined && sizeOf(`${path}-wal`) === undefined
  const { checks, ...found } = isMissing ? examineMissing(path) : examineStore(path)
  return { ...found, checks: [...(await examineFolder(findFolder(path))), ...checks] }
}

/** Checks what "200 means durable" rests on for a SQLite store, without changing it. */
export async function examineSqlite(file: string): Promise<Examination> {
  // Whatever else fails after a denial, fails for it.
  const denial = findDenial(file) ?? findDenial(realPathOf(file))
  if (denial === undefined) return examinePath(realPathOf(file))
  return { checks: [denial], tokens: undefined, recordedTimes: [] }
}
