import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createCertificate } from '../../../test/certificate.ts'
import type { Call, Case } from './case.ts'
import { openExchange, type SeenRequest } from './exchange.ts'
import { preflight, stored } from './responses.ts'

/**
 * Where Linux has it, an address of its own: elsewhere, callers of other tests may still try the port
 * of a server that has ended, and it may be this server's by now.
 */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

/** Reserved by IANA, and too low for a system to give it out by itself. */
const REFUSED_PORT = 1_023

/** The first byte of what begins a TLS handshake (RFC 8446 §5.1). */
const HANDSHAKE = 0x16

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
    const request = { headers, body: await text(incoming), at: Date.now() }
    if (seen.push(request) === 1) startedAt = performance.now()
    return one.script(open(socket, request))
  }
  const server: Server = one.isTls ? createTlsServer(createCertificate()) : createServer()
  server.on('request', (incoming: IncomingMessage) => {
    // A script that takes a stray request amiss must not end the server for the other cases.
    respond(incoming).catch(() => incoming.socket.resetAndDestroy())
  })
  server.on('clientError', ({ rawPacket }: Error & { rawPacket?: Buffer }, socket: Socket) => {
    const request = { headers: {}, body: '', at: Date.now() }
    if (rawPacket?.[0] === HANDSHAKE) one.onHandshake?.(open(socket, request))
  })
  if (one.refusesConnection) server.once('connection', (socket: Socket) => socket.resetAndDestroy())
  return server
}

export interface OpenedCase {
  readonly urls: Readonly<Record<NonNullable<Call['to']>, string>>
  /** Every request so far, preflights left out. */
  readonly seen: readonly SeenRequest[]
}

/** Opens every case; `url` is that of an empty page of another origin, where no request may go. */
export async function startHostileServer(cases: readonly Case[]) {
  const all: SeenRequest[][] = cases.map(() => [])
  const page = createServer(({ headers, url = '' }, response) => {
    all[Number(url.slice(1) || Number.NaN)]?.push({ headers, body: 'stray', at: Date.now() })
    if (url !== '/') response.socket?.end(stored())
    else response.setHeader('content-type', 'text/html').end('<!doctype html>')
  })
  const url = await listen(page)
  const servers: Server[] = [page]
  const opened: OpenedCase[] = []
  for (const [index, one] of cases.entries()) {
    const seen = all[index] ?? []
    const server = createCaseServer(one, seen, `${url}/${index}`)
    servers.push(server)
    const own = await listen(server)
    const tls = own.replace('http:', 'https:')
    opened.push({ urls: { server: own, tls, nobody: `http://${HOST}:${REFUSED_PORT}` }, seen })
  }
  const close = () => {
    for (const server of servers) server.close().closeAllConnections()
  }
  return { url, opened, close }
}
