import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'

/** A proxy as companies have them: it tunnels, and passes on what comes without TLS. */
export interface LocalProxy {
  readonly url: string
  /** The hosts that it was asked for, in order. */
  readonly hosts: string[]
  close(): void
}

/** Starts a proxy to servers of this machine. */
export async function startProxy(): Promise<LocalProxy> {
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
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hosts,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
