import { randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { decodeJson, encodeJson, type JsonWritable } from '@plant-store/contract'
import { startServerProcess } from '../process/server-process.ts'
import { CLIENT, SERVER, type WorkspaceCopy } from './workspace-copy.ts'

type Client = typeof import('@plant-store/client')

/** A plant by the contract of the copy, whose fields may be others than those of ours. */
export type AnyPlant = Readonly<Record<string, JsonWritable | undefined>>

/** The built client of a copy, as it is now; in a new place, because Node.js keeps what it imported. */
export async function importClient(copy: WorkspaceCopy): Promise<Client> {
  const place = copy.pathOf(`${CLIENT}/imported-${randomUUID()}`)
  cpSync(copy.pathOf(`${CLIENT}/dist`), place, { recursive: true })
  return import(/* @vite-ignore */ pathToFileURL(join(place, 'index.js')).href)
}

/** The body that the built client sends for a plant. */
export async function readSentBody(copy: WorkspaceCopy, plant: AnyPlant): Promise<unknown> {
  const { createPlantStoreClient } = await importClient(copy)
  let sent = ''
  const client = createPlantStoreClient({
    baseUrl: 'http://127.0.0.1:9',
    token: 'token',
    maxRetries: 0,
    fetch: async (_url, init) => {
      sent = String(init?.body)
      throw new TypeError('fetch failed')
    },
  })
  await client.tryCreatePlant(plant as never)
  return decodeJson(Buffer.from(sent))
}

/** What the built client and the built server said to each other, and what is stored. */
export interface Observed {
  /** Method and path of each request. */
  readonly request: string
  /** The name of the header that carries the token. */
  readonly credential: string
  /** What the server allows on the path, where it is asked with another method. */
  readonly allow: string | null
  /** The status of the reply to a plant, to the same plant again, and to another under its id. */
  readonly statuses: readonly number[]
  /** What the client makes of the last of these. */
  readonly refusal: readonly [code: unknown, apiCode: unknown, apiName: unknown]
  /** What the client makes of a plant with the id 2^63-1, and what the server replies to its body. */
  readonly largestId: readonly [client: unknown, server: unknown]
  /** The rows of the first plant, by the columns that it has a value in. */
  readonly stored: readonly object[]
}

interface Exchange {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly status: number
}

function readStored(database: string, id: unknown): object[] {
  const connection = new DatabaseSync(database, { readOnly: true })
  const select = connection.prepare('SELECT * FROM plants WHERE id = ?')
  select.setReadBigInts(true)
  const rows = select.all(id as bigint)
  connection.close()
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
  )
}

/** A fetch that writes down what is sent and which status comes back. */
function createRecordingFetch(exchanges: Exchange[]): typeof fetch {
  return async (input, init = {}) => {
    const response = await fetch(input, init)
    const { status } = response
    const [method, headers] = [init.method ?? 'GET', new Headers(init.headers)]
    exchanges.push({ method, url: new URL(String(input)), headers, status })
    return response
  }
}

/** Lets the built client store a plant in the built server, over SQLite. */
export async function storeInBuiltServer(copy: WorkspaceCopy, plant: AnyPlant): Promise<Observed> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-pair-'))
  const server = await startServerProcess({ folder, main: copy.pathOf(`${SERVER}/dist/main.js`) })
  try {
    const { url: baseUrl, token } = server
    const exchanges: Exchange[] = []
    const { createPlantStoreClient } = await importClient(copy)
    const recording = createRecordingFetch(exchanges)
    const client = createPlantStoreClient({ baseUrl, token, maxRetries: 0, fetch: recording })
    const create = (more: AnyPlant = {}) => client.tryCreatePlant({ ...plant, ...more } as never)
    await create()
    await create()
    const refused = await create({ name: 'Moss' })
    const [first] = exchanges
    if (first === undefined) throw new Error('nothing was sent', { cause: refused })
    const statuses = exchanges.map(({ status }) => status)
    const largest = { id: 2n ** 63n - 1n }
    const extreme = await create(largest)
    const { method, url, headers } = first
    const body = encodeJson({ ...plant, ...largest })
    const replied = await fetch(url, { method, headers, body })
    const { error } = (await replied.json()) as { error?: number }
    const other = await fetch(url, { method: 'DELETE', headers })
    const { code, apiCode, apiName } = Object(refused.ok ? {} : refused.error)
    return {
      request: [...new Set(exchanges.map((sent) => `${sent.method} ${sent.url.pathname}`))].join(),
      credential: [...headers].find(([, value]) => value.endsWith(token))?.[0] ?? '',
      allow: other.headers.get('allow'),
      statuses,
      refusal: [code, apiCode, apiName],
      largestId: [extreme.ok ? 'stored' : extreme.error.code, error ?? replied.status],
      stored: readStored(join(folder, 'data/plants.db'), plant.id),
    }
  } finally {
    server.kill('SIGKILL')
    await server.ended
    rmSync(folder, { recursive: true })
  }
}
