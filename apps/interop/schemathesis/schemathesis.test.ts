import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, test } from 'vitest'
import { listen } from '../../../test/listen.ts'
import { needs } from '../../../test/needs.ts'
import { startRestartableServer } from '../../../test/restartable-server.ts'
import { startProgram } from '../../../test/start-program.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'

const PROGRAM = join(import.meta.dirname, '.venv/bin/schemathesis')

const needsSchemathesis = needs(
  'Schemathesis, which `pnpm interop:schemathesis` installs',
  existsSync(PROGRAM),
)

/** How many generated requests are sent, besides those of the examples and of each rule. */
const CASES = 5_000

/** A case takes 10 ms, or 100 ms on a machine with other work. */
const PATIENCE_MS = 1_800_000

const patiently = { ...needsSchemathesis, timeout: PATIENCE_MS }

/** Sends requests by the document that the server publishes, and checks each answer. */
function runSchemathesis(url: string, token: string, amount: readonly string[]) {
  const words = [
    ...[PROGRAM, 'run', `${url}/openapi.json`, '--url', url],
    ...['-H', `Authorization: Bearer ${token}`],
    ...['--checks', 'all', '--exclude-checks', 'positive_data_acceptance'],
    ...['--no-color', ...amount],
  ]
  const hooks = { PYTHONPATH: import.meta.dirname, SCHEMATHESIS_HOOKS: 'taken_ids' }
  // In a folder of its own, because it keeps what it has found.
  return startProgram(words, { cwd: temporaryFolder(), env: { ...env, ...hooks } }).ended
}

/** How many requests it says that it has sent. */
function countCases(printed: string): number {
  return Number(/([\d,]+) generated/.exec(printed)?.[1]?.replaceAll(',', ''))
}

test(`Schemathesis finds nothing in ${CASES} requests`, patiently, async () => {
  const server = await startRestartableServer()
  const { code, printed } = await runSchemathesis(server.url, server.token, ['-n', String(CASES)])
  console.log(printed)
  expect(code, printed).toBe(0)
  expect(countCases(printed)).toBeGreaterThanOrEqual(CASES)
  expect(server.readPlants().size).toBeGreaterThan(1)
})

test.each<[claim: string, check: string, status: number, body: string]>([
  ['refuses what the document allows', 'accepted', 400, '{"error":40002,"message":"no"}'],
  ['answers with another body', 'required property', 200, '{"title":"Fern"}'],
  ['takes what the document forbids', 'rejected', 200, '{"name":"Fern"}'],
])('Schemathesis finds a server that %s', patiently, async (_claim, check, status, body) => {
  const document = await import('@plant-store/contract/openapi.json', { with: { type: 'json' } })
  const wrong = createServer((request, response) => {
    const isDocument = request.url === '/openapi.json'
    response.writeHead(isDocument ? 200 : status, {
      'content-type': 'application/json',
      'x-request-id': 'wrong',
    })
    response.end(isDocument ? JSON.stringify(document.default) : body)
  })
  const url = `http://127.0.0.1:${await listen(wrong)}`
  const { code, printed } = await runSchemathesis(url, 'token', ['--phases', 'examples,coverage'])
  expect(printed).toContain(check)
  expect(code).toBe(1)
})
