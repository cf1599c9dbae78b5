import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { needs } from '../runtimes/needs.ts'
import { type RealServer, startRealServer } from '../runtimes/real-server.ts'
import { findRuntimes, type Runtime } from '../runtimes/runtimes.ts'
import { compile, compilers } from './compilers.ts'
import { createProject, findTool, type Project, pack, pathOf } from './packages.ts'
import { type LocalProxy, startProxy } from './proxy.ts'

const run = promisify(execFile)

const LIBRARIES = ['node-fetch', 'undici', 'undici-7']
const TOOLS = [...LIBRARIES, '@types/bun', '@types/node']
const areInstalled = TOOLS.every((name) => findTool(name) !== undefined)

let project: Project
let server: RealServer
let proxy: LocalProxy
/** It takes connections, and says nothing. */
let silent: Server
let silentUrl: string

beforeAll(async () => {
  project = createProject((folder) => [pack(pathOf('..'), folder)])
  for (const name of TOOLS) project.linkTool(name)
  server = await startRealServer()
  proxy = await startProxy()
  silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
})

afterAll(async () => {
  proxy.close()
  silent.close()
  project[Symbol.dispose]()
  await server.endAndRead()
})

beforeEach(() => {
  proxy.hosts.length = 0
})

describe('the fetch of others is taken without a cast', () => {
  for (const compiler of compilers) {
    test.each(['es2022,dom', 'es2022'] as const)(
      `by ${compiler.title} with the library %s`,
      needs(compiler.title, compiler.isInstalled && areInstalled),
      async (lib) => {
        const options = { lib, types: 'node' }
        expect(await compile(compiler, project.folder, 'fetch.ts', options)).toBe('')
      },
    )

    // Bun's own types do not pass their check.
    test(
      `by ${compiler.title} with the types of Bun`,
      needs(compiler.title, compiler.isInstalled && areInstalled),
      async () => {
        const options = { lib: 'es2022', types: 'bun', skipLibCheck: true } as const
        expect(await compile(compiler, project.folder, 'bun.ts', options)).toBe('')
      },
    )

    test(
      `and by ${compiler.title} our own types need no DOM, every library checked`,
      needs(compiler.title, compiler.isInstalled && areInstalled),
      async () => {
        const options = { lib: 'es2022', types: 'node' } as const
        expect(await compile(compiler, project.folder, 'client.ts', options)).toBe('')
      },
    )
  }

  const { program: deno = '' } = findRuntimes().find(({ kind }) => kind === 'deno') ?? {}

  test('by Deno', needs('Deno 2', deno !== ''), async () => {
    const args = ['check', '--quiet', '--no-lock', '--node-modules-dir=manual', 'deno.ts']
    await run(deno, args, { cwd: project.folder })
  })
})

/** What is imported, and the fetch that the program makes of it. */
const FETCHES: readonly (readonly [title: string, library: string, fetch: string])[] = [
  ["undici's", 'undici', 'library.fetch'],
  ["undici 7's", 'undici-7', 'library.fetch'],
  ["node-fetch's", 'node-fetch', 'library.default'],
  [
    "undici's through a proxy",
    'undici',
    '(url, init) => library.fetch(url, { ...init, dispatcher: new library.ProxyAgent(process.env.PROXY) })',
  ],
]

/** Time in which even a busy machine asks the proxy for what never replies. */
const LATE_MS = 2_000

function programOf(library: string, fetch: string): string {
  return `
import { createPlantStoreClient, isPlantStoreError } from '@plant-store/client'
import * as library from '${library}'
const client = createPlantStoreClient({ fetch: ${fetch} })
const { plant, meta } = await client.tryCreatePlant({ id: 7, name: 'Fern' })
const failure = await client.createPlant({ id: 7, name: 'Moss' }).catch((error) => error)
const id = meta.headers.get('x-request-id') === meta.requestId
const silent = createPlantStoreClient({ fetch: ${fetch}, baseUrl: process.env.SILENT })
const late = await silent.tryCreatePlant({ id: 8, name: 'Ivy' }, { timeoutMs: ${fetch.includes('ProxyAgent') ? LATE_MS : 50}, maxRetries: 0 })
console.log(plant.name, id, meta.headers instanceof Headers, failure.code, failure.applied, late.error.code)
process.exit()`
}

async function outputOf({ program = '' }: Runtime, code: string, env: NodeJS.ProcessEnv = {}) {
  const { stdout } = await run(program, ['--no-warnings', '--input-type=module', '--eval', code], {
    cwd: project.folder,
    env: {
      PLANT_STORE_BASE_URL: server.url,
      PLANT_STORE_TOKEN: server.token,
      PROXY: proxy.url,
      SILENT: silentUrl,
      ...env,
    },
  })
  return stdout
}

describe.each(findRuntimes().filter(({ kind }) => kind === 'node'))('on $title', (runtime) => {
  for (const [title, library, fetch] of FETCHES) {
    // undici 8 needs Node.js 22.
    if (library === 'undici' && runtime.title === 'Node.js 20') continue

    test(
      `${title} fetch stores plants, fails and ends in time`,
      needs(runtime.title, runtime.program !== undefined && areInstalled),
      async () => {
        const printed = await outputOf(runtime, programOf(library, fetch))
        expect(printed).toBe('Fern true true conflict no attempt_timeout\n')
        const asked = [server.url, silentUrl].map((url) => new URL(url).host)
        const hosts = fetch.includes('ProxyAgent') ? asked : []
        expect(new Set(proxy.hosts)).toEqual(new Set(hosts))
      },
    )
  }
})

const node24 = findRuntimes().find(({ title }) => title === 'Node.js 24')

test(
  'the environment names a proxy where Node.js 24 is asked to heed it',
  needs('Node.js 24', node24?.program !== undefined),
  async () => {
    const store = `
      const { createPlantStoreClient } = await import('@plant-store/client')
      console.log(await createPlantStoreClient().createPlant({ id: 7, name: 'Fern' }))`
    const variables = { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url }
    expect(await outputOf(node24 as Runtime, store, variables)).toBe("{ name: 'Fern' }\n")
    expect(proxy.hosts).toEqual([])
    const heeded = { ...variables, NODE_USE_ENV_PROXY: '1' }
    expect(await outputOf(node24 as Runtime, store, heeded)).toBe("{ name: 'Fern' }\n")
    expect(proxy.hosts).toEqual([new URL(server.url).host])
  },
)
