import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Measured } from './measured-process.ts'
import type { Way } from './send-plants.ts'

/**
 * Sends so many plants in a process of its own, to a server that does nothing, and measures that
 * process.
 */
export async function measureMemory(way: Way, rows: number): Promise<Measured> {
  const server = createServer((request, response) => {
    request.resume()
    response.setHeader('content-type', 'application/json').end('{"name":"Fern"}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const program = new URL('measured-process.ts', import.meta.url)
  const child = fork(program, [way, url, String(rows)], { execArgv: ['--expose-gc'] })
  try {
    const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`exit ${code}`)))
    const [measured] = await Promise.race([once(child, 'message'), ended])
    return measured as Measured
  } finally {
    child.kill()
    server.close()
    server.closeAllConnections()
  }
}
