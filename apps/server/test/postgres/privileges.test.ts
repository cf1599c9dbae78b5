import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runProgram } from '../commands/program.ts'
import { runToEnd, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { clientOf, prepareDatabase } from './served-database.ts'

let postgres: PostgresServer

beforeAll(async () => {
  postgres = await startPostgres()
}, 60_000)
afterAll(() => postgres?.stop())

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

const READ_MIGRATIONS = 'SELECT ON migrations'

describe('a role that may not do all that the program does', () => {
  test.each([
    ['export', 'plants'],
    ['token list', 'tokens'],
    ['token create --name fern', 'tokens'],
    ['serve', 'tokens'],
  ])(
    'is told so by `%s`, with what to do',
    async (command, table) => {
      const { url } = await arrange(READ_MIGRATIONS)
      const { code, err } = await run(url, ...command.split(' '))
      expect(code).toBe(69)
      expect(err).toMatch(new RegExp(`permission denied for table ${table}\\. Try: .*GRANT`))
      expect(err).not.toMatch(/^ {4}at /m)
    },
    10_000,
  )

  test('is told so by `serve` where it may read tokens and no plants', async () => {
    const { url, databaseUrl } = await arrange(READ_MIGRATIONS, 'SELECT ON tokens')
    await postgres.query(databaseUrl, 'DELETE FROM tokens')
    const { code, err } = await run(url, 'serve')
    expect({ code, err }).toMatchObject({
      code: 69,
      err: expect.stringMatching(/permission denied for table plants\. Try: /),
    })
  })

  test('is told so by `migrate`', async () => {
    const url = new URL((await arrange()).url)
    url.pathname = new URL(await postgres.createDatabase()).pathname
    const { code, err } = await run(url.href, 'migrate')
    expect({ code, err }).toMatchObject({
      code: 69,
      err: expect.stringMatching(/permission denied for schema public\. Try: .*owner/),
    })
  })

  test('stores nothing and answers 503 until it is granted what is missing', async () => {
    const tokens = 'SELECT, UPDATE ON tokens'
    const { url, databaseUrl, role, token } = await arrange(READ_MIGRATIONS, tokens)
    const server = await startServerProcess({
      folder: temporaryFolder(),
      token,
      environment: { PLANT_STORE_DATABASE_URL: url, PLANT_STORE_LOG_LEVEL: 'silent' },
    })
    const create = () =>
      clientOf(server.url, token).rest.createPlant({ body: { id: 1, name: 'Fern' } })
    expect(await create()).toMatchObject({ status: 503 })
    await postgres.query(databaseUrl, `GRANT SELECT, INSERT, UPDATE ON plants TO ${role}`)
    expect(await create()).toMatchObject({ status: 200 })
  })
})

describe('a database that cannot be used', () => {
  const away = 'postgres://127.0.0.1:9/plants'

  test.each(['migrate', 'export', 'token list', 'serve'])(
    'is told by `%s` with the reason and what to do',
    async (command) => {
      const { code, err } = await run(away, ...command.split(' '))
      expect(code).toBe(69)
      expect(err).toMatch(
        /the database 127\.0\.0\.1:9\/plants cannot be used: connect ECONNREFUSED 127\.0\.0\.1:9\. Try: start the database/,
      )
      expect(err).not.toMatch(/^ {4}at /m)
    },
  )

  test('is told where its password is wrong or its name is', async () => {
    const url = new URL(await postgres.createDatabase())
    url.pathname = '/nothing'
    expect((await run(url.href, 'migrate')).err).toMatch(/does not exist\. Try: .*createdb/)
    url.password = 'wrong'
    expect((await run(url.href, 'export')).err).toMatch(
      /password authentication .*Try: mend the user/,
    )
  })

  test('is told by a process that ends', async () => {
    const { url } = await arrange(READ_MIGRATIONS)
    const { code, err } = await runToEnd({
      folder: temporaryFolder(),
      environment: { PLANT_STORE_DATABASE_URL: url },
      args: ['export'],
    })
    expect({ code, err }).toMatchObject({ code: 69, err: expect.stringContaining('Try: ') })
  }, 10_000)
})
