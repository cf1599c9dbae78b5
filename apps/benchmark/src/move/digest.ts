import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'

/** What a store holds, the same for the same plants in whatever engine. */
export interface Digest {
  readonly count: number
  readonly sha256: string
}

type Row = readonly [id: string, name: string, tag: string | null]

const FETCHED_AT_ONCE = 10_000

function startDigest(): { add(row: Row): void; end(): Digest } {
  const hash = createHash('sha256')
  let count = 0
  return {
    add(row) {
      hash.update(`${JSON.stringify(row)}\n`)
      count++
    },
    end: () => ({ count, sha256: hash.digest('hex') }),
  }
}

/** Reads a SQLite store in id order, past the server's own code. */
export function digestSqlite(path: string): Digest {
  const digest = startDigest()
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const select = database.prepare(
      'SELECT CAST(id AS TEXT) AS id, name, tag FROM plants ORDER BY plants.id',
    )
    for (const { id, name, tag } of select.iterate()) {
      digest.add([String(id), String(name), tag === null ? null : String(tag)])
    }
    return digest.end()
  } finally {
    database.close()
  }
}

/** Reads a PostgreSQL store in id order, past the server's own code. */
export async function digestPostgres(url: string): Promise<Digest> {
  const digest = startDigest()
  const client = new pg.Client(url)
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(
      'DECLARE plants_by_id CURSOR FOR SELECT id::text, name, tag FROM plants ORDER BY plants.id',
    )
    for (;;) {
      const { rows } = await client.query(`FETCH ${FETCHED_AT_ONCE} FROM plants_by_id`)
      if (rows.length === 0) return digest.end()
      for (const { id, name, tag } of rows) digest.add([id, name, tag])
    }
  } finally {
    await client.end()
  }
}
