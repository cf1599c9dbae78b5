import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { findPrograms, findUser, reachPrograms } from './embedded-postgres.ts'
import { startPostgres } from './postgres-server.ts'

test('a PostgreSQL that cannot start fails at once and says why', async () => {
  const begin = performance.now()
  await expect(startPostgres(['no_such_setting=1'])).rejects.toThrow(
    /did not start \(1\):.*unrecognized configuration parameter "no_such_setting"/s,
  )
  expect(performance.now() - begin).toBeLessThan(20_000)
})

test('a PostgreSQL that cannot be made fails at once and says why', async () => {
  await expect(startPostgres([], { initdbFlags: ['--encoding=nothing'] })).rejects.toThrow(
    /initdb ended with 1:.*not a valid server encoding name/s,
  )
})

test('the programs are run from a folder that only their owner may enter', async () => {
  const closed = join(temporaryFolder(), 'closed')
  mkdirSync(closed)
  const programs = await findPrograms()
  cpSync(dirname(programs), join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
  chmodSync(closed, 0o700)
  // The temporary folder itself is one's own as well.
  const target = join(temporaryFolder(), 'copy')
  chmodSync(dirname(target), 0o755)
  const reached = reachPrograms(join(closed, 'native', basename(programs)), target, findUser())
  const version = execFileSync(join(reached, 'postgres'), ['--version'], findUser())
  expect(version.toString()).toMatch(/^postgres \(PostgreSQL\) \d/)
})
