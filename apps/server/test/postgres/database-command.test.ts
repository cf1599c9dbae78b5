import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { usePostgres } from './use-postgres.ts'

const SERVER = join(import.meta.dirname, '../..')

const postgres = usePostgres()

/** A command for sh that kills the PostgreSQL of these tests, and ends when it is back. */
async function makeKillCommand(): Promise<string> {
  const server = createServer(async (_, response) => {
    postgres.kill()
    await postgres.start()
    response.end()
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return `"${process.execPath}" -e "fetch('http://127.0.0.1:${port}').then((reply) => reply.text())"`
}

test('one command runs races and kills over a database that its environment names', async () => {
  const { scripts } = JSON.parse(readFileSync(join(SERVER, 'package.json'), 'utf8'))
  const child = spawn('sh', ['-c', `${scripts['test:database']} race given/kills`], {
    cwd: SERVER,
    env: {
      PATH: `${join(SERVER, 'node_modules/.bin')}:${process.env.PATH}`,
      NO_COLOR: '1',
      PLANT_STORE_TEST_POSTGRES_URL: postgres.urlOf('postgres'),
      PLANT_STORE_TEST_POSTGRES_KILL: await makeKillCommand(),
      PLANT_STORE_TEST_POSTGRES_KILLS: '2',
    },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  const [code] = await once(child, 'close')
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringMatching(/Tests +3 passed/) })
  expect(said).toContain('2 kills')
})
