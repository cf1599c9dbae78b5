import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCertificate } from '../../../apps/server/test/certificate.ts'
import type { Case, Exchange, SeenRequest } from './case.ts'
import { cases } from './cases.ts'
import { preflight, stored } from './responses.ts'

export interface HostileServer {
  /** `/` is a page that runs `/entry.js`, `/opened` gives an Opened, `/seen/3` a case's requests. */
  readonly controlUrl: string
  close(): void
}

/** Where the cases are. */
export interface Opened {
  /** In the order of the cases. */
  readonly urls: readonly string[]
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

  function openExchange(socket: Socket, request: SeenRequest): Exchange {
    return {
      attempt: seen.length,
      atMs: performance.now() - startedAt,
      request,
      strayUrl,
      send: (bytes) => void (socket.writable && socket.write(bytes)),
      store() {
        request.isStored = true
      },
      refuse: () => void server.close(),
      end: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
      pause: (ms) => sleep(ms),
    }
  }

  async function respond(incoming: IncomingMessage): Promise<void> {
    const { headers, method, socket } = incoming
    if (method === 'OPTIONS') {
      socket.end(preflight(headers['access-control-request-headers']))
      return
    }
    const request = { headers, body: await text(incoming), isStored: false }
    if (seen.push(request) === 1) startedAt = performance.now()
    await one.script(openExchange(socket, request))
  }

  const server: Server = one.isTls ? createTlsServer({ cert, key }) : createServer()
  server.on('request', (incoming: IncomingMessage) => {
    // A script that takes a stray request amiss must not end the server for the other cases.
    respond(incoming).catch(() => incoming.socket.resetAndDestroy())
  })
  if (one.refusesConnection) server.once('connection', (socket: Socket) => socket.resetAndDestroy())
  server.on('clientError', ({ rawPacket }: Error & { rawPacket?: Buffer }, socket: Socket) => {
    const request = { headers: {}, body: '', isStored: false }
    if (rawPacket?.[0] === HANDSHAKE) one.onHandshake?.(openExchange(socket, request))
  })
  return server
}

/** Opens every case, and a control from which any runtime learns of them, and a browser gets scripts. */
export async function startHostileServer(
  scripts: Readonly<Record<string, string>> = {},
): Promise<HostileServer> {
  const seen: SeenRequest[][] = cases.map(() => [])
  const refusedUrl = `http://${HOST}:${REFUSED_PORT}`
  const opened: Opened & { urls: string[] } = { urls: [], refusedUrl }
  const control = createServer((request, response) => {
    const [, verb = '', index = ''] = (request.url ?? '').split('/')
    response.setHeader('access-control-allow-origin', '*')
    if (verb === 'stray') {
      seen[Number(index)]?.push({ headers: request.headers, body: 'stray', isStored: false })
      request.socket.end(stored())
    } else if (verb in scripts) {
      response.setHeader('content-type', 'text/javascript')
      response.end(scripts[verb])
    } else if (verb === '') {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><script type="module" src="/entry.js"></script>')
    } else response.end(JSON.stringify(verb === 'opened' ? opened : seen[Number(index)]))
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
