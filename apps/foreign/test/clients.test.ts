import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RealServer, startRealServer } from '../../../packages/client/runtimes/real-server.ts'
import { document, needsTools, runTool, tools } from './tools.ts'

interface Program {
  createPlant(order: {
    readonly baseUrl: string
    readonly token: string
    readonly plant: { readonly id: number; readonly name: string; readonly tag?: string }
  }): Promise<unknown>
}

interface MadeClient {
  readonly name: string
  readonly id: number
  /** How it is made: a tool and its arguments. */
  readonly make: readonly [tool: string, ...args: string[]]
}

const clients: readonly MadeClient[] = [
  {
    name: 'openapi-fetch',
    id: 1,
    make: ['openapi-typescript', document, '--output', 'generated/openapi-fetch/schema.ts'],
  },
  {
    name: 'hey-api',
    id: 2,
    make: ['openapi-ts', '--input', document, '--output', 'generated/hey-api'],
  },
  { name: 'orval', id: 3, make: ['orval', '--config', 'orval.config.ts'] },
]

describe('a client that is made from the committed document', needsTools, () => {
  let server: RealServer
  beforeAll(async () => {
    server = await startRealServer()
    rmSync(join(tools, 'generated'), { recursive: true, force: true })
    for (const { name, make } of clients) {
      const [tool, ...args] = make
      const { code, out, err } = await runTool(tool, args, { PLANT_STORE_BASE_URL: server.url })
      if (code !== 0) throw new Error(`${name} was not made: ${out}${err}`)
    }
  })
  afterAll(async () => void (await server?.endAndRead()))

  test('compiles, by each of the makers', async () => {
    expect(await runTool('tsc', ['--project', '.'])).toEqual({ code: 0, out: '', err: '' })
  })

  test.each(clients)(
    'by $name creates a plant, and understands a refusal',
    async ({ name, id }) => {
      const program: Program = await import(join(tools, 'clients', `${name}.ts`))
      const { url: baseUrl, token } = server
      const fern = { id, name: 'Fern', tag: 'indoor' }
      const created = await program.createPlant({ baseUrl, token, plant: fern })
      expect(created).toEqual({ name: 'Fern', tag: 'indoor' })
      expect(server.readNames().get(BigInt(id))).toBe('Fern')

      const refused = await program.createPlant({ baseUrl, token, plant: { id, name: 'Moss' } })
      expect(refused).toMatchObject({ error: 40003, message: expect.stringContaining('is taken') })
      expect(server.readNames().get(BigInt(id))).toBe('Fern')

      const stranger = await program.createPlant({ baseUrl, token: 'none', plant: fern })
      expect(stranger).toMatchObject({ error: 40101 })
    },
  )
})
