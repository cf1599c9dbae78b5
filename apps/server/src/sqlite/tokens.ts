import type { DatabaseSync } from 'node:sqlite'
import type { TokenRecord, TokenStore } from '../store/store.ts'
import { TOKEN_COLUMNS, toTokenRecord } from '../store/token-columns.ts'
import type { Transactions } from './transactions.ts'

/** Every token, oldest first. */
export function readTokens(database: DatabaseSync): TokenRecord[] {
  const select = database.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created_at, id`)
  return select.all().map(toTokenRecord)
}

/** The tokens table of a SQLite store. */
export function createSqliteTokenStore(
  database: DatabaseSync,
  { read, write }: Transactions,
): TokenStore {
  const insert = database.prepare(
    'INSERT INTO tokens (id, name, secret_sha256, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const select = database.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE id = ?`)
  const revoke = database.prepare(
    'UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  )
  const expire = database.prepare(
    'UPDATE tokens SET expires_at = ?1 WHERE id = ?2 AND (expires_at IS NULL OR expires_at > ?1)',
  )
  const markUsed = database.prepare('UPDATE tokens SET last_used_at = ? WHERE id = ?')

  function insertOne({ id, name, secretSha256, createdAt, expiresAt }: TokenRecord): void {
    insert.run(id, name, secretSha256, createdAt, expiresAt ?? null)
  }

  return {
    add: (token) => write(() => insertOne(token)),
    async find(id) {
      const row = await read(() => select.get(id))
      return row && toTokenRecord(row)
    },
    list: () => read(() => readTokens(database)),
    revoke: (id, revokedAt) => write(() => revoke.run(revokedAt, id).changes === 1),
    replace: (id, expiresAt, successor) =>
      write(() => {
        insertOne(successor)
        expire.run(expiresAt, id)
      }),
    async markUsed(id, lastUsedAt) {
      await write(() => markUsed.run(lastUsedAt, id))
    },
  }
}
