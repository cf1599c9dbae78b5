import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RealServer, startRealServer } from '../../../packages/client/runtimes/real-server.ts'
import { document, needsTools, runTool } from './tools.ts'

/** Runs a tool that has to succeed. */
async function run(tool: string, ...args: readonly string[]): Promise<void> {
  const { code, out, err } = await runTool(tool, args)
  expect(code, `${tool}: ${out}${err}`).toBe(0)
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-imports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The answers to what a collection sends, as newman and Bruno report them. */
type Answers = readonly { readonly status: number; readonly body: unknown }[]

interface NewmanReport {
  readonly run: {
    readonly executions: readonly {
      readonly response: { readonly code: number; readonly stream: { readonly data: number[] } }
    }[]
  }
}

/** Imports the document as Postman does, and sends all that it has made of it. */
async function sendByPostman(server: RealServer, ...options: string[]): Promise<Answers> {
  const folder = makeFolder()
  const [collection, report] = [join(folder, 'plants.json'), join(folder, 'report.json')]
  await run('openapi2postmanv2', '--spec', document, '--output', collection, ...options)
  const variables = { baseUrl: server.url, bearerToken: server.token }
  await run(
    'newman',
    ...['run', collection, '--reporters', 'json', '--reporter-json-export', report],
    ...Object.entries(variables).flatMap(([name, value]) => ['--env-var', `${name}=${value}`]),
  )
  const { run: ran }: NewmanReport = JSON.parse(readFileSync(report, 'utf8'))
  return ran.executions.map(({ response: { code, stream } }) => ({
    status: code,
    body: JSON.parse(Buffer.from(stream.data).toString()),
  }))
}

type BrunoReport = readonly {
  readonly results: readonly {
    readonly response: { readonly status: number; readonly data: unknown }
  }[]
}[]

/** Imports the document as Bruno does, and sends all that it has made of it. */
async function sendByBruno(server: RealServer): Promise<Answers> {
  const folder = makeFolder()
  await run('bru', 'import', 'openapi', '--source', document, '--output', folder, '-n', 'plants')
  const [environment = ''] = readdirSync(join(folder, 'plants/environments'))
  const { code, out, err } = await runTool(
    'bru',
    [
      ...[
        'run',
        '--env',
        environment.replace('.yml', ''),
        '--reporter-json',
        join(folder, 'a.json'),
      ],
      ...['--env-var', `baseUrl=${server.url}`, '--env-var', `token=${server.token}`],
    ],
    {},
    join(folder, 'plants'),
  )
  expect(code, out + err).toBe(0)
  const reports: BrunoReport = JSON.parse(readFileSync(join(folder, 'a.json'), 'utf8'))
  return reports.flatMap(({ results }) =>
    results.map(({ response: { status, data } }) => ({ status, body: data })),
  )
}

describe('the first request of an imported document, once base address and token are set,', () => {
  let server: RealServer
  beforeAll(async () => {
    server = await startRealServer()
  })
  afterAll(async () => void (await server?.endAndRead()))

  const stored = [{ status: 200, body: { name: 'Fern', tag: 'indoor' } }]

  test('stores a plant from Bruno', needsTools, async () => {
    expect(await sendByBruno(server)).toEqual(stored)
    expect(server.readNames().get(7n)).toBe('Fern')
  })

  test(
    'stores a plant from Postman, where it makes parameters from examples',
    needsTools,
    async () => {
      expect(await sendByPostman(server, '-O', 'parametersResolution=Example')).toEqual(stored)
      expect(server.readNames().get(7n)).toBe('Fern')
    },
  )

  test('shows from Postman by itself what to put in place of its words', needsTools, async () => {
    const [answer] = await sendByPostman(server)
    // Postman writes "<long>" for every number of 64 bits, whatever the examples.
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 40002, message: expect.stringMatching(/^id: must be an integer between/) },
    })
  })
})
