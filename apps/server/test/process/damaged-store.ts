import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueToken } from '../../src/auth/issue-token.ts'
import { openStore } from '../../src/engines.ts'
import { openDatabase } from '../../src/sqlite/database/database.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { unitNodeFlags } from './node-flags.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const PAGE_BYTES = 4_096

/** Starts a server, as the unit does, on a store of 5,000 plants; of a damaged one one page is zeros. */
export async function startOnStore(isDamaged: boolean): Promise<ServerProcess> {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  mkdirSync(data)
  const path = join(data, 'plants.db')
  const database = await openDatabase(path)
  database.exec(`WITH RECURSIVE ids (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 5000)
    INSERT INTO plants (id, name) SELECT id, 'Fern ' || id FROM ids`)
  database.close()
  const store = await openStore({
    databaseUrl: `sqlite:${path}`,
    queueLimit: 1,
    allowDataLoss: false,
  })
  const { text: token } = await issueToken(store, 'greenhouse', 3_600_000)
  await store.close()
  const bytes = readFileSync(path)
  const at = bytes.length - 4 * PAGE_BYTES
  if (isDamaged) writeFileSync(path, bytes.fill(0, at, at + PAGE_BYTES))
  return startServerProcess({ folder, token, nodeFlags: unitNodeFlags(data) })
}
