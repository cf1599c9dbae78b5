import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { startRealServer } from '../../../packages/client/runtimes/real-server.ts'

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

interface Ended {
  readonly code: number
  readonly out: string
}

/** Sends requests by the document that the server publishes, and checks each answer. */
function runSchemathesis(url: string, token: string, amount: readonly string[]): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-schemathesis-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const args = [
    ...['run', `${url}/openapi.json`, '--url', url, '-H', `Authorization: Bearer ${token}`],
    ...['--checks', 'all', '--exclude-checks', 'positive_data_acceptance'],
    ...['--no-color', ...amount],
  ]
  const hooks = { PYTHONPATH: import.meta.dirname, SCHEMATHESIS_HOOKS: 'taken_ids' }
  return new Promise((resolve) => {
    // In a folder of its own, because it keeps what it has found.
    execFile(PROGRAM, args, { cwd: folder, env: { ...env, ...hooks } }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out: out + err }),
    )
  })
}

/** How many requests it says that it has sent. */
function countCases(out: string): number {
  return Number(/([\d,]+) generated/.exec(out)?.[1]?.replaceAll(',', ''))
}

test(`Schemathesis finds nothing in ${CASES} requests`, patiently, async () => {
  const server = await startRealServer()
  onTestFinished(async () => void (await server.endAndRead()))
  const { code, out } = await runSchemathesis(server.url, server.token, ['-n', String(CASES)])
  console.log(out)
  expect(code, out).toBe(0)
  expect(countCases(out)).toBeGreaterThanOrEqual(CASES)
  expect(server.readNames().size).toBeGreaterThan(1)
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
  await new Promise<void>((resolve) => wrong.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void wrong.close())
  const url = `http://127.0.0.1:${(wrong.address() as AddressInfo).port}`
  const { code, out } = await runSchemathesis(url, 'token', ['--phases', 'examples,coverage'])
  expect(out).toContain(check)
  expect(code).toBe(1)
})
