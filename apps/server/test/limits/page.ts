import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { launchChromium } from '../../../../packages/client/hostile/chromium.ts'

/** A page that has the client, as `plantStoreClient`. */
const HTML = '<!doctype html><script type="module" src="/client.js"></script>'

async function bundleClient(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents:
        "import * as client from '@plant-store/client'; globalThis.plantStoreClient = client",
      resolveDir: fileURLToPath(new URL('.', import.meta.url)),
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
  })
  return outputFiles[0]?.text ?? ''
}

/** Serves the page on an origin of its own. */
export async function servePage(): Promise<string> {
  const script = await bundleClient()
  const server = createServer(({ url }, response) => {
    const isScript = url === '/client.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : HTML)
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens pages in a browser that ends with the test. */
export async function openBrowser(): Promise<Browser> {
  const browser = await launchChromium()
  onTestFinished(() => browser.close())
  return browser
}

/** The result of a create as a page sees it: the plant, or what it knows of the error. */
export interface Seen {
  readonly plant?: unknown
  readonly status?: number | undefined
  readonly code?: unknown
  readonly requestId?: unknown
  readonly message?: unknown
}

/** Creates a plant from within a page, with the client. */
export function createFrom(
  page: Page,
  baseUrl: string,
  token: string,
  id: string,
  name = 'Fern',
): Promise<Seen> {
  return page.evaluate(
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
    [baseUrl, token, id, name],
  )
}
