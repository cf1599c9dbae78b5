import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createCertificate } from '../../../apps/server/test/certificate.ts'
import type { Case } from './case.ts'
import { cases } from './cases.ts'
import { openExchange, type SeenRequest } from './exchange.ts'
import { preflight, stored } from './responses.ts'

/** Where the cases are. */
export interface Opened {
  /** In the order of the cases. */
  readonly urls: string[]
  readonly refusedUrl: string
}

/**
 * Where Linux has it, an address of its own: elsewhere, callers of other tests may still try the port
 * of a server that has ended, and it may be this server's by now.
 */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

/** Reserved by IANA, and too low for a system to give it out by itself. */
const REFUSED_PORT = 1_023

/** The first byte of what begins a TLS handshake (RFC 8446 §5.1). */
const HANDSHAKE = 0x16

const { certificate: cert, key } = createCertificate()

async function listen(server: Server): Promise<string> {
  server.listen(0, HOST)
  await once(server, 'listening')
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}

/** A listener whose requests Node parses, and whose responses the script of a case writes, byte for byte. */
function createCaseServer(one: Case, seen: SeenRequest[], strayUrl: string): Server {
  let startedAt = Number.NaN
  const open = (socket: Socket, request: SeenRequest) => {
    const facts = { attempt: seen.length, atMs: performance.now() - startedAt, strayUrl }
    return openExchange(socket, request, { ...facts, refuse: () => server.close() })
  }
  const respond = async (incoming: IncomingMessage) => {
    const { headers, method, socket } = incoming
    if (method === 'OPTIONS') return socket.end(preflight(headers))
    const request = { headers, body: await text(incoming) }
    if (seen.push(request) === 1) startedAt = performance.now()
    return one.script(open(socket, request))
  }
  const server: Server = one.isTls ? createTlsServer({ cert, key }) : createServer()
  server.on('request', (incoming: IncomingMessage) => {
    // A script that takes a stray request amiss must not end the server for the other cases.
    respond(incoming).catch(() => incoming.socket.resetAndDestroy())
  })
  server.on('clientError', ({ rawPacket }: Error & { rawPacket?: Buffer }, socket: Socket) => {
    if (rawPacket?.[0] === HANDSHAKE) one.onHandshake?.(open(socket, { headers: {}, body: '' }))
  })
  if (one.refusesConnection) server.once('connection', (socket: Socket) => socket.resetAndDestroy())
  return server
}

/**
 * Opens every case, and a control: `/` is a page that runs `/entry.js`, which is one of the scripts,
 * `/opened` gives an Opened, `/seen/3` the requests of a case.
 */
export async function startHostileServer(scripts: Readonly<Record<string, string>> = {}) {
  const seen: SeenRequest[][] = cases.map(() => [])
  const opened: Opened = { urls: [], refusedUrl: `http://${HOST}:${REFUSED_PORT}` }
  const control = createServer(({ headers, socket, url = '' }, response) => {
    const [, verb = '', index = ''] = url.split('/')
    const say = (type: string, body = '') =>
      response
        .writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' })
        .end(body)
    if (verb === 'stray') {
      seen[Number(index)]?.push({ headers, body: 'stray' })
      socket.end(stored())
    } else if (verb === '') say('text/html', '<script type="module" src="/entry.js"></script>')
    else if (verb in scripts) say('text/javascript', scripts[verb])
    else say('application/json', JSON.stringify(verb === 'opened' ? opened : seen[Number(index)]))
  })
  const controlUrl = await listen(control)
  const servers = cases.map((one, index) =>
    createCaseServer(one, seen[index] ?? [], `${controlUrl}/stray/${index}`),
  )
  for (const server of servers) opened.urls.push(await listen(server))
  return {
    controlUrl,
    close() {
      for (const server of [control, ...servers]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}
