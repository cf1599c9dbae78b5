import { createServer, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { listen } from '../../test/listen.ts'
import type { OnEnd } from '../../test/temporary-folder.ts'

/** Starts a proxy to servers of this machine, as companies have them: it tunnels, and passes on what comes without TLS. */
export async function startProxy(onEnd: OnEnd) {
  const hosts: string[] = []
  const server = createServer((request, response) => {
    const { host, port, pathname } = new URL(request.url ?? '')
    hosts.push(host)
    const { method, headers } = request
    const passed = httpRequest({ port, path: pathname, method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    request.pipe(passed)
  }).on('connect', ({ url = '' }, client) => {
    hosts.push(url)
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      target.pipe(client).pipe(target)
    })
    for (const socket of [client, target]) socket.on('error', () => socket.destroy())
  })
  const url = `http://127.0.0.1:${await listen(server, onEnd)}`
  /** `hosts`: those that it was asked for, in order. */
  return { url, hosts }
}
