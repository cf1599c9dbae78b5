import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'

/** What one run of a way to send measured. */
interface Measured {
  readonly way: string
  readonly rows: number
  readonly seconds: number
  /** MB, at the highest. */
  readonly rss: number
  /** MB of live objects, after a collection at a tenth and at the end. */
  readonly heapEarly: number
  readonly heapLate: number
}

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    way: { type: 'string' },
    url: { type: 'string' },
  },
})
const rows = Number(values.rows)
const AT_ONCE = 16

function* plants(): Generator<{ id: number; name: string }> {
  for (let id = 0; id < rows; id++) yield { id, name: 'Fern' }
}

/** Fetch alone, as a program without the client would use it. */
async function* sendBare(url: string): AsyncGenerator<void> {
  const source = plants()
  let done = 0
  const work = async () => {
    for (const plant of source) {
      const response = await fetch(`${url}/plants`, {
        method: 'POST',
        headers: { authorization: 'Bearer token', 'content-type': 'application/json' },
        body: JSON.stringify(plant),
      })
      await response.json()
      done++
    }
  }
  const workers = Promise.all(Array.from({ length: AT_ONCE }, work))
  for (let given = 0; given < rows; ) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    for (; given < done; given++) yield
  }
  await workers
}

async function* sendByClient(url: string): AsyncGenerator<void> {
  const { createPlantStoreClient, createPlants } = await import('@plant-store/client')
  const client = createPlantStoreClient({ baseUrl: url, token: 'token' })
  const options = { concurrency: AT_ONCE, onProgress: () => {} }
  for await (const { ok } of createPlants(client, plants(), options)) {
    if (!ok) throw new Error('a plant was not stored')
    yield
  }
}

const MB = 1_000_000
const round = (bytes: number) => Math.round((bytes / MB) * 10) / 10

function liveHeap(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return round(process.memoryUsage().heapUsed)
}

async function measure(way: string, url: string): Promise<Measured> {
  const begin = performance.now()
  let rss = 0
  let heapEarly = 0
  let count = 0
  for await (const _ of way === 'bare fetch' ? sendBare(url) : sendByClient(url)) {
    if (++count % 1_000 === 0) rss = Math.max(rss, process.memoryUsage.rss())
    if (count === Math.floor(rows / 10)) heapEarly = liveHeap()
  }
  const seconds = Math.round(performance.now() - begin) / 1_000
  return { way, rows, seconds, rss: round(rss), heapEarly, heapLate: liveHeap() }
}

function runInProcess(way: string, url: string): Promise<Measured> {
  const flags = [`--rows=${rows}`, `--way=${way}`, `--url=${url}`]
  const child = fork(import.meta.filename, flags, { execArgv: ['--expose-gc'] })
  return new Promise((resolve, reject) => {
    child.once('message', (measured) => resolve(measured as Measured))
    child.once('exit', (code) => reject(new Error(`${way} ended with ${code}`)))
  })
}

/** Measures what a million plants take of memory, beside fetch alone at the same server. */
async function main(): Promise<void> {
  const reply = Buffer.from('{"name":"Fern"}')
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, ['content-type', 'application/json', 'content-length', `${reply.length}`])
    response.end(reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const measured = [await runInProcess('bare fetch', url), await runInProcess('createPlants', url)]
  console.table(measured)
  server.close()
  server.closeAllConnections()
}

if (values.way === undefined || values.url === undefined) await main()
else process.send?.(await measure(values.way, values.url), () => process.disconnect())
