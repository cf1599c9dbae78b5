import { expect, test } from 'vitest'
import { needs } from '../../../../../packages/client/runtimes/needs.ts'
import { runProgram } from '../../commands/program.ts'
import { givenUrl, isSpreadable } from '../given-postgres.ts'
import { query } from '../postgres-server.ts'
import { openStoreAt, usePostgres } from '../use-postgres.ts'

const postgres = usePostgres()

const isThere = givenUrl !== undefined && (await isSpreadable(givenUrl))

test(
  'migrate --distributed spreads the plants that are there, and may run again',
  needs('a database that spreads tables over nodes', isThere),
  async () => {
    const url = await postgres.createDatabase()
    expect((await runProgram(['migrate', '--database-url', url])).code).toBe(0)
    const plants = Array.from({ length: 100 }, (_, id) => ({ id: BigInt(id), name: `plant ${id}` }))
    const before = await openStoreAt(url)
    await Promise.all(plants.map((plant) => before.plants.create(plant)))
    for (let run = 0; run < 2; run++) {
      const { code, err } = await runProgram(['migrate', '--distributed', '--database-url', url])
      expect({ code, err }).toMatchObject({
        code: 0,
        err: expect.stringMatching(/plants lie by id in \d+ shards/),
      })
    }
    const store = await openStoreAt(url)
    const outcomes = await Promise.all(plants.map((plant) => store.plants.create(plant)))
    expect(new Set(outcomes)).toEqual(new Set(['already_there']))
    const tables =
      'SELECT logicalrelid::text AS name, partmethod::text AS how FROM pg_dist_partition'
    const rows = await query(
      url,
      `${tables} WHERE logicalrelid IN ('plants'::regclass, 'tokens'::regclass) ORDER BY name`,
    )
    expect(rows).toEqual([
      { name: 'plants', how: 'h' },
      { name: 'tokens', how: 'n' },
    ])
    expect(await query(url, 'SELECT count(*)::int AS plants FROM plants')).toEqual([
      { plants: 100 },
    ])
  },
)
