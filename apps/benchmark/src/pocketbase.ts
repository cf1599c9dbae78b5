import { join } from 'node:path'
import { findFreePort } from '../../../test/free-port.ts'
import { startProgram } from './child.ts'
import { countSqlitePlants } from './databases.ts'
import type { StartServer } from './servers.ts'

const ACCOUNT = { identity: 'bench@example.com', password: 'correct horse battery' }

const ID = { primaryKey: true, system: true, required: true, max: 20, pattern: '^-?[0-9]+$' }

/** Anybody may create plants; their ids are texts, because its numbers do not have 64 bits. */
const COLLECTION = {
  name: 'plants',
  type: 'base',
  createRule: '',
  fields: [
    { name: 'id', type: 'text', ...ID },
    { name: 'name', type: 'text', required: true },
    { name: 'tag', type: 'text' },
  ],
}

async function post(url: string, body: object, token = ''): Promise<{ token?: string }> {
  const headers = { 'content-type': 'application/json', authorization: token }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`PocketBase: ${response.status} ${await response.text()}`)
  return (await response.json()) as { token?: string }
}

/** PocketBase, by its program, with a collection of plants. Its commits are not synced. */
export function pocketbase(program: string): StartServer {
  return async ({ folder }) => {
    const data = ['--dir', join(folder, 'data')]
    const { identity, password } = ACCOUNT
    await startProgram(program, ['superuser', 'upsert', identity, password, ...data]).end()
    const port = await findFreePort()
    const child = startProgram(program, ['serve', ...data, '--http', `127.0.0.1:${port}`])
    await child.waitFor(/Server started/)
    const api = `http://127.0.0.1:${port}/api/collections`
    const { token } = await post(`${api}/_superusers/auth-with-password`, ACCOUNT)
    await post(api, COLLECTION, token)
    const target = { port, path: '/api/collections/plants/records', token: '', quotesIds: true }
    const countPlants = async () => countSqlitePlants(join(folder, 'data/data.db'))
    return { target, pid: child.pid, stop: child.stop, countPlants }
  }
}
