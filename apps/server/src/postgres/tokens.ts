import type { PoolClient } from 'pg'
import type { TokenRecord, TokenStore } from '../store/store.ts'
import { TOKEN_COLUMNS, toTokenRecord } from '../store/token-columns.ts'
import type { Connections } from './hosts.ts'
import { resolveOutcome, toStoreError } from './resolve.ts'
import { inTransaction, type Tables } from './tables.ts'

async function insert(
  client: PoolClient,
  { tokens }: Tables,
  { id, name, secretSha256, createdAt, expiresAt }: TokenRecord,
): Promise<void> {
  await client.query(
    `INSERT INTO ${tokens} (id, name, secret_sha256, created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING`,
    [id, name, Buffer.from(secretSha256), createdAt, expiresAt ?? null],
  )
}

async function replace(
  client: PoolClient,
  tables: Tables,
  id: string,
  expiresAt: number,
  successor: TokenRecord,
): Promise<void> {
  await inTransaction(client, async () => {
    await insert(client, tables, successor)
    await client.query(
      `UPDATE ${tables.tokens} SET expires_at = $1
        WHERE id = $2 AND (expires_at IS NULL OR expires_at > $1)`,
      [expiresAt, id],
    )
  })
}

/** The tokens table of a PostgreSQL store. Every statement may be repeated without harm. */
export function createPostgresTokenStore(connections: Connections, tables: Tables): TokenStore {
  const { tokens } = tables

  async function read(text: string, values: unknown[] = []): Promise<TokenRecord[]> {
    try {
      const { rows } = await connections.query(text, values)
      return rows.map(toTokenRecord)
    } catch (error) {
      throw toStoreError(error, false)
    }
  }

  return {
    add: (token) => resolveOutcome(connections, (client) => insert(client, tables, token)),
    async find(id) {
      return (await read(`SELECT ${TOKEN_COLUMNS} FROM ${tokens} WHERE id = $1`, [id]))[0]
    },
    list: () => read(`SELECT ${TOKEN_COLUMNS} FROM ${tokens} ORDER BY created_at, id`),
    async revoke(id, revokedAt) {
      // A repeat after a lost connection finds its own time there.
      const text = `UPDATE ${tokens} SET revoked_at = $1
        WHERE id = $2 AND (revoked_at IS NULL OR revoked_at = $1)`
      const { rowCount } = await resolveOutcome(connections, (client) =>
        client.query(text, [revokedAt, id]),
      )
      return rowCount === 1
    },
    replace: (id, expiresAt, successor) =>
      resolveOutcome(connections, (client) => replace(client, tables, id, expiresAt, successor)),
    async markUsed(id, lastUsedAt) {
      const text = `UPDATE ${tokens} SET last_used_at = $1 WHERE id = $2`
      await resolveOutcome(connections, (client) => client.query(text, [lastUsedAt, id]))
    },
  }
}
