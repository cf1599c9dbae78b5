import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HealthCheck } from '../../src/store/health-check.ts'
import { runProgram } from '../commands/program.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { openSession } from './sessions.ts'
import { startSynchronousStandby } from './standby.ts'
import { newDatabase } from './use-postgres.ts'

let primary: PostgresServer

beforeAll(async () => {
  primary = await startPostgres()
}, 60_000)
afterAll(() => primary?.stop(), 60_000)

async function doctor(databaseUrl: string, subject: string): Promise<HealthCheck[]> {
  const { out } = await runProgram(['doctor', '--json', '--database-url', databaseUrl])
  const checks: HealthCheck[] = out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  return checks.filter((check) => check.subject === subject)
}

async function fixOf(databaseUrl: string, subject: string): Promise<string> {
  const [check] = await doctor(databaseUrl, subject)
  if (check === undefined || check.level === 'ok') throw new Error(`${subject} is ok`)
  return check.fix
}

/** Runs the statements of a fix as psql does, and waits until doctor is content. */
async function apply(databaseUrl: string, fix: string, subject: string): Promise<HealthCheck[]> {
  const session = await openSession(databaseUrl)
  for (const statement of fix.split('; ')) await session.query(statement)
  for (;;) {
    const checks = await doctor(databaseUrl, subject)
    if (checks.every(({ level }) => level === 'ok')) return checks
  }
}

test.each([
  ['durability', 'synchronous_commit', 'off', 'on'],
  ['writes', 'default_transaction_read_only', 'on', 'off'],
])('the fix of %s is where %s was set', async (subject, name, wrong, right) => {
  const databaseUrl = await newDatabase(primary)
  const database = new URL(databaseUrl).pathname.slice(1)
  const restore = name === 'synchronous_commit' ? '' : `SET ${name} = ${right}; `
  for (const place of [
    `DATABASE ${database}`,
    'ROLE plant_store',
    `ROLE plant_store IN DATABASE ${database}`,
  ]) {
    await primary.query(primary.urlOf('postgres'), `ALTER ${place} SET ${name} = ${wrong}`)
    const fix = await fixOf(databaseUrl, subject)
    expect(fix).toBe(`${restore}ALTER ${place} RESET ${name}`)
    await apply(databaseUrl, fix, subject)
  }
  await primary.set(name, wrong)
  const fix = await fixOf(databaseUrl, subject)
  expect(fix).toBe(`${restore}ALTER SYSTEM SET ${name} = ${right}; SELECT pg_reload_conf()`)
  await apply(databaseUrl, fix, subject)
  expect(await fixOf(`${databaseUrl}?options=-c%20${name}%3D${wrong}`, subject)).toEqual(
    expect.stringMatching(`^leave ${name} out of the options in `),
  )
})

test('what a failover would lose follows from the standbys', { timeout: 60_000 }, async () => {
  const databaseUrl = await newDatabase(primary)
  const database = new URL(databaseUrl).pathname.slice(1)
  const alone = { level: 'ok', detail: expect.stringMatching(/^none; plants are as safe as/) }
  expect(await doctor(databaseUrl, 'standby')).toMatchObject([alone])

  const standby = await startSynchronousStandby(primary)
  try {
    const safe = {
      level: 'ok',
      detail: expect.stringMatching(/^1 for .*; a failover loses no plant$/),
    }
    expect(await doctor(databaseUrl, 'standby')).toMatchObject([safe])
    await primary.query(
      databaseUrl,
      `CREATE ROLE blind LOGIN PASSWORD 'blind'; GRANT SELECT ON migrations TO blind`,
    )
    const blind = databaseUrl.replace(/\/\/.*@/, '//blind:blind@')
    expect(await doctor(blind, 'standby')).toMatchObject([safe])

    await primary.query(databaseUrl, `ALTER DATABASE ${database} SET synchronous_commit = local`)
    const [local] = await doctor(databaseUrl, 'standby')
    expect(local).toMatchObject({
      level: 'warning',
      detail: expect.stringMatching(/synchronous_commit = local.*may be missing$/),
      fix: `ALTER DATABASE ${database} RESET synchronous_commit`,
    })
    await apply(databaseUrl, await fixOf(databaseUrl, 'standby'), 'standby')

    await primary.set('synchronous_standby_names', "''")
    const [asynchronous] = await doctor(databaseUrl, 'standby')
    expect(asynchronous).toMatchObject({
      level: 'warning',
      detail: expect.stringMatching(/^1 connected, none of them synchronous: after a failover/),
    })
    const fixed = await apply(databaseUrl, await fixOf(databaseUrl, 'standby'), 'standby')
    expect(fixed).toMatchObject([safe])

    const onStandby = databaseUrl.replace(`:${primary.port}`, `:${standby.port}`)
    expect(await doctor(onStandby, 'standby')).toEqual([])
    expect(await doctor(onStandby, 'writes')).toMatchObject([
      { level: 'failure', fix: expect.stringMatching(/^the primary's address in .*pg_promote/) },
    ])
  } finally {
    await standby.stop()
  }
  expect(await doctor(databaseUrl, 'standby')).toMatchObject([
    { level: 'failure', fix: expect.stringMatching(/^start a standby of that name/) },
  ])
  // Otherwise every commit after this test waits.
  await primary.set('synchronous_standby_names', "''")
})

test('a database in another encoding gets one in UTF8', async () => {
  const options = "ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0"
  expect(await doctor(await primary.createDatabase(options), 'database')).toMatchObject([
    {
      level: 'failure',
      detail: expect.stringMatching(/ is in LATIN1; it must be in UTF8$/),
      fix: expect.stringMatching(/^createdb --encoding=UTF8 /),
    },
  ])
})

test('a wrong password gets the fix of a wrong password', async () => {
  const wrong = primary.urlOf('postgres').replace(/:[^:@]*@/, ':wrong@')
  expect(await doctor(wrong, 'database')).toMatchObject([
    {
      level: 'failure',
      detail: expect.stringMatching(/password authentication failed/),
      fix: expect.stringMatching(/^fix the user or the password in /),
    },
  ])
})
