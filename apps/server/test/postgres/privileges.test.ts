import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runProgram } from '../commands/program.ts'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { clientOf, prepareDatabase, serve, waitForReadiness } from './served-database.ts'
import { openSession, waitForRow } from './sessions.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

let roles = 0

/** A prepared database, and its URL for a new role that has no privileges but these. */
async function arrange(...grants: string[]) {
  const { databaseUrl, token } = await prepareDatabase(await postgres.createDatabase())
  const role = `limited_${roles++}`
  await postgres.query(databaseUrl, `CREATE ROLE ${role} LOGIN PASSWORD 'limited'`)
  for (const grant of grants) await postgres.query(databaseUrl, `GRANT ${grant} TO ${role}`)
  const url = new URL(databaseUrl)
  url.username = role
  url.password = 'limited'
  return { url: url.href, databaseUrl, role, token }
}

function run(url: string, ...args: string[]) {
  return runProgram([...args, '--database-url', url])
}

/** The SQL of docs/growing.md, for a role. */
function readLeastGrants(role: string): string[] {
  const text = readFileSync(new URL('../../../../docs/growing.md', import.meta.url), 'utf8')
  const [, block = ''] = /```sql\n(GRANT[^`]*)```/.exec(text) ?? []
  return block
    .replaceAll('plant_store_server', role)
    .split(';\n')
    .filter((line) => line.trim())
}

async function arrangeLeast() {
  const arranged = await arrange()
  const grants = readLeastGrants(arranged.role)
  expect(grants.length).toBeGreaterThan(3)
  for (const grant of grants) await postgres.query(arranged.databaseUrl, grant)
  return arranged
}

const READ_MIGRATIONS = 'SELECT ON migrations'

describe('a role that may not do all that the program does', () => {
  test.each([
    ['export', 'plants'],
    ['token list', 'tokens'],
    ['token create --name fern', 'tokens'],
  ])(
    'is reported by `%s`, with what to do',
    async (command, table) => {
      const { url } = await arrange(READ_MIGRATIONS)
      const { code, err } = await run(url, ...command.split(' '))
      expect(code).toBe(69)
      expect(err).toMatch(new RegExp(`permission denied for table ${table}\\. Try: .*GRANT`))
      expect(err).not.toMatch(/^ {4}at /m)
    },
    60_000,
  )

  test.each([
    ['any', [], ['SELECT ON plants', 'INSERT ON plants', 'SELECT ON tokens']],
    ['INSERT', ['SELECT ON ALL TABLES IN SCHEMA public'], ['INSERT ON plants']],
    ['SELECT', ['INSERT ON plants', 'SELECT ON tokens'], ['SELECT ON plants']],
    ['SELECT of tokens', ['SELECT, INSERT ON plants'], ['SELECT ON tokens']],
    [
      'INSERT of a column',
      ['SELECT, INSERT (id, name) ON plants', 'SELECT ON tokens'],
      ['INSERT ON plants'],
    ],
  ])('is reported by `serve` and `doctor` where it lacks %s', async (_what, granted, missing) => {
    const { url, role } = await arrange(READ_MIGRATIONS, ...granted)
    const grants = missing.map((one) => `GRANT ${one.replace('ON ', 'ON "public".')} TO ${role}`)
    const served = await run(url, 'serve')
    expect(served).toMatchObject({ code: 69, out: '' })
    expect(served.err).toContain(`Try, as the owner of the tables: ${grants.join('; ')}\n`)
    expect(await run(url, 'doctor')).toMatchObject({ code: 69, err: served.err })
  })

  test('is reported by `migrate`', async () => {
    const url = new URL((await arrange()).url)
    url.pathname = new URL(await postgres.createDatabase()).pathname
    const { code, err } = await run(url.href, 'migrate')
    expect({ code, err }).toMatchObject({
      code: 69,
      err: expect.stringMatching(/permission denied for schema public\. Try: .*owner/),
    })
  })

  test('stores nothing, answers 503 and is not ready until it is granted what is missing', async () => {
    const { url, databaseUrl, role, token } = await arrangeLeast()
    const server = await serve({ databaseUrl: url, token })
    const create = () =>
      clientOf(server.url, token).rest.createPlant({ body: { id: 1, name: 'Fern' } })
    await waitForReadiness(server, true)
    await postgres.query(databaseUrl, `REVOKE INSERT ON plants FROM ${role}`)
    expect(await create()).toMatchObject({ status: 503 })
    const reply = await fetch(`${server.operationsUrl}/readyz`)
    expect(reply.status).toBe(503)
    const { message } = (await reply.json()) as { message: string }
    expect(message).toContain(`GRANT INSERT ON "public".plants TO ${role}`)
    await postgres.query(databaseUrl, `GRANT INSERT ON plants TO ${role}`)
    await waitForReadiness(server, true)
    expect(await create()).toMatchObject({ status: 200 })
  })
})

describe('a role with the grants of the document', () => {
  test('stores, repeats, marks tokens, and may do no more', async () => {
    const { url, databaseUrl, token } = await arrangeLeast()
    const environment = { PLANT_STORE_RATE_LIMIT: '5' }
    const server = await serve({ databaseUrl: url, token }, { environment })
    const client = clientOf(server.url, token)
    const create = (name: string) => client.rest.createPlant({ body: { id: 1, name } })
    expect(await create('Fern')).toMatchObject({ status: 200 })
    expect(await create('Fern')).toMatchObject({ status: 200 })
    expect(await create('Moss')).toMatchObject({ status: 400, body: { error: 40_003 } })
    expect(await run(url, 'doctor')).toMatchObject({ code: 0 })
    const session = await openSession(databaseUrl)
    await waitForRow(session, 'SELECT FROM tokens WHERE last_used_at IS NOT NULL')
    for (const text of [
      'DELETE FROM plants',
      "UPDATE plants SET name = ''",
      'UPDATE tokens SET revoked_at = NULL',
      'DELETE FROM tokens',
    ]) {
      await expect(postgres.query(url, text)).rejects.toThrow(/permission denied/)
    }
  })
})

describe('a database that cannot be used', () => {
  const away = 'postgres://127.0.0.1:9/plants'

  test.each(['migrate', 'export', 'token list', 'serve'])(
    'is reported by `%s` with the reason and what to do',
    async (command) => {
      const { code, err } = await run(away, ...command.split(' '))
      expect(code).toBe(69)
      expect(err).toMatch(
        /the database 127\.0\.0\.1:9\/plants cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\. Try: start the database/,
      )
      expect(err).not.toMatch(/^ {4}at /m)
    },
  )

  test('is reported where its password or its name is wrong', async () => {
    const url = new URL(await postgres.createDatabase())
    url.pathname = '/nothing'
    expect((await run(url.href, 'migrate')).err).toMatch(/does not exist\. Try: .*createdb/)
    url.password = 'wrong'
    const { err } = await run(url.href, 'export')
    expect(err).toMatch(/password authentication .*Try: fix the user/)
    expect(err).not.toContain('wrong')
  })

  test('is reported by a process that ends', async () => {
    const { url } = await arrange(READ_MIGRATIONS)
    const { code, err } = await runToEnd({
      folder: temporaryFolder(),
      environment: { PLANT_STORE_DATABASE_URL: url },
      args: ['export'],
    })
    expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining('Try: ') })
  }, 60_000)
})
