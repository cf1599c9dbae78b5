import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runProgram } from '../commands/program.ts'
import { post, startServerProcess } from '../process/server-process.ts'
import { readRows } from './served-database.ts'
import { usePostgres } from './use-postgres.ts'

const postgres = usePostgres()

const GROWING = readFileSync(new URL('../../../../docs/growing.md', import.meta.url), 'utf8')

/** The statements of a block of SQL, for roles and a database of this test's own. */
function readStatements(beginning: string): string[] {
  const block = GROWING.split('```sql\n').find((text) => text.startsWith(beginning)) ?? ''
  const [sql = ''] = block.split('```')
  return sql
    .replaceAll('plant_store', 'garden')
    .replaceAll('DATABASE plants', 'DATABASE garden')
    .trim()
    .split('\n')
    .map((line) => line.replace(/^\\password (\w+)$/, "ALTER ROLE $1 PASSWORD 'secret'"))
}

function urlAs(role: string): string {
  const url = new URL(postgres.urlOf('garden'))
  url.username = role
  url.password = 'secret'
  return url.href
}

async function run(role: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await runProgram([...args, '--database-url', urlAs(role)])
  expect(code, err).toBe(0)
  return out
}

test('the SQL of the document makes a database that is migrated and served', async () => {
  const superuser = postgres.urlOf('postgres')
  for (const statement of readStatements('CREATE ROLE')) await postgres.query(superuser, statement)
  await run('garden', 'migrate')
  const token = await run('garden', 'token', 'create', '--name', 'greenhouse')
  for (const grant of readStatements('GRANT')) await postgres.query(urlAs('garden'), grant)

  const environment = { PLANT_STORE_DATABASE_URL: urlAs('garden_server') }
  const server = await startServerProcess({ environment, token: token.trim() })
  expect((await post(server)).status).toBe(200)
  expect(await readRows(urlAs('garden'))).toMatchObject([{ id: '1', name: 'Fern' }])
  expect(await run('garden_server', 'doctor')).toMatch(/^schema +version 3, the newest$/m)
  for (const statement of ['DELETE FROM plants', 'DROP TABLE plants', 'CREATE TABLE more ()']) {
    const refused = postgres.query(urlAs('garden_server'), statement)
    await expect(refused).rejects.toThrow(/permission denied|must be owner/)
  }
  await postgres.query(superuser, "CREATE ROLE stranger LOGIN PASSWORD 'secret'")
  await expect(postgres.query(urlAs('stranger'), 'SELECT')).rejects.toThrow(/permission denied/)
})
