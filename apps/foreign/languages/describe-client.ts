import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../../packages/client/runtimes/needs.ts'
import { type RealServer, startRealServer } from '../../../packages/client/runtimes/real-server.ts'
import { type Client, missingOf } from './clients.ts'
import { runScript } from './shell.ts'

/** Compilers of whole dependency trees need minutes on a machine that has other work. */
const MAKING_MS = 900_000

const LARGEST = 2n ** 63n - 1n
const SMALLEST = -(2n ** 63n)

type Environment = Readonly<Record<string, string>>

interface MadeClient {
  readonly server: RealServer
  /** What the client's program prints for a plant with the tag "indoor". */
  run(id: bigint, name: string, token?: string): Promise<unknown>
  end(): Promise<void>
}

/** Installs OpenAPI Generator as `setup.sh` does; gives the environment in which it is found. */
export async function installGenerator(folder: string): Promise<Environment> {
  await runScript(folder, join(import.meta.dirname, 'setup.sh'), [], {})
  return { PATH: `${join(folder, 'generator/bin')}:${env.PATH}` }
}

async function makeClient(client: Client, environment: Environment): Promise<MadeClient> {
  const folder = mkdtempSync(join(tmpdir(), `plant-store-${client.name}-`))
  cpSync(client.folder, folder, { recursive: true })
  const server = await startRealServer()
  const here = { ...environment, PLANT_STORE_BASE_URL: server.url }
  const made: MadeClient = {
    server,
    async run(id, name, token = server.token) {
      const more = { ...here, PLANT_STORE_TOKEN: token }
      return JSON.parse(await runScript(folder, 'run.sh', [`${id}`, name], more))
    },
    async end() {
      await server.endAndRead()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  try {
    await runScript(folder, 'make.sh', [], { ...here, DOCUMENT: `${server.url}/openapi.json` })
  } catch (error) {
    await made.end()
    throw error
  }
  return made
}

function stored(name: string) {
  return { stored: { name, tag: 'indoor' } }
}

/** Makes a client from a real server's document, and stores plants in that server with it. */
export function describeClient(client: Client, environment: () => Environment): void {
  const missing = missingOf(client).join(', ')
  describe(client.name, needs(`${missing} for ${client.title}`, missing === ''), () => {
    let made: MadeClient
    beforeAll(async () => {
      made = await makeClient(client, environment())
    }, MAKING_MS)
    afterAll(() => made?.end())

    // The third is no double, nor one after a conversion that ends at the bounds.
    test.each([LARGEST, SMALLEST, SMALLEST + 1n])('keeps each digit of %s', async (id) => {
      expect(await made.run(id, 'Fern')).toEqual(stored('Fern'))
      expect(made.server.readNames().get(id)).toBe('Fern')
    })

    test('stores a name beyond the basic plane', async () => {
      expect(await made.run(1n, 'Saguaro 🌵')).toEqual(stored('Saguaro 🌵'))
      expect(made.server.readNames().get(1n)).toBe('Saguaro 🌵')
    })

    test('reads the number of a refusal', async () => {
      expect(await made.run(2n, 'Fern')).toEqual(stored('Fern'))
      const message = expect.stringContaining('is taken')
      expect(await made.run(2n, 'Moss')).toEqual({ error: 40003, message })
      expect(made.server.readNames().get(2n)).toBe('Fern')
    })

    test('reads that a token is not known', async () => {
      const message = expect.any(String)
      expect(await made.run(3n, 'Fern', 'none')).toEqual({ error: 40101, message })
      expect(made.server.readNames().has(3n)).toBe(false)
    })
  })
}
