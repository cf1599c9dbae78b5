import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { describe, expect, onTestFinished, test } from 'vitest'
import { launchChromium, needsChromium } from '../../../../packages/client/runtimes/chromium.ts'
import { startServerProcess } from '../process/server-process.ts'

/** Serves a page on an origin of its own, which has the client as `plantStoreClient`. */
async function servePage(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: "import * as all from '@plant-store/client'; globalThis.plantStoreClient = all",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  })
  const server = createServer(({ url }, response) => {
    const isScript = url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    const html = '<!doctype html><script type="module" src="/client.js"></script>'
    response.end(isScript ? outputFiles[0]?.text : html)
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens a page, and a server that lists these origins; `ORIGIN` is the page's own. */
async function openPage(origins: string) {
  const origin = await servePage()
  const server = await startServerProcess({
    environment: { PLANT_STORE_CORS_ORIGINS: origins.replace('ORIGIN', origin) },
  })
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(origin, { waitUntil: 'load' })
  const { token } = server
  /** Creates a plant with the client in the page: the plant, or what the page knows of the error. */
  const create = ({
    id = '1',
    name = 'Fern',
    text = token,
  } = {}): Promise<Record<string, unknown>> =>
    page.evaluate(
      async ([baseUrl = '', token = '', id = '', name = '']) => {
        const { createPlantStoreClient } = Reflect.get(globalThis, 'plantStoreClient')
        const client = createPlantStoreClient({ baseUrl, token, maxRetries: 0 })
        try {
          return { plant: await client.createPlant({ id: BigInt(id), name, tag: 'indoor' }) }
        } catch (error) {
          const { status, code, requestId, message } = error as Record<string, never>
          return { status, code, requestId, message }
        }
      },
      [server.url, text, id, name],
    )
  return { server, token, create }
}

describe('a page', { ...needsChromium, timeout: 60_000 }, () => {
  test('of a listed origin creates a plant and reads what an error says', async () => {
    const { token, create } = await openPage('https://plants.example,ORIGIN')
    const id = '9007199254740993'
    expect(await create({ id })).toStrictEqual({ plant: { name: 'Fern', tag: 'indoor' } })
    // Stored under exactly this id: other content under it is refused, and the page can say why.
    const taken = await create({ id, name: 'Ivy' })
    expect(taken).toMatchObject({ status: 400, code: 'conflict' })
    expect(taken.message).toContain(id)
    const stranger = await create({ id: '2', text: `${token.slice(0, -1)}x` })
    expect(stranger).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(stranger.requestId).toMatch(/^[\w.-]+$/)
  })

  test('of another origin is kept from it by its browser, and nothing is stored', async () => {
    const { server, create } = await openPage('https://plants.example')
    const seen = await create()
    expect(seen).toMatchObject({ status: undefined, code: expect.any(String) })
    expect(seen).not.toHaveProperty('plant')
    // Another plant under the same id is new, so the page's never arrived.
    expect(await server.client.createPlant({ id: 1, name: 'Ivy' })).toStrictEqual({ name: 'Ivy' })
  })
})
