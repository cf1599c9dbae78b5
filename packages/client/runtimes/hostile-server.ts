import { once } from 'node:events'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createTlsServer } from 'node:tls'
import { createCertificate } from '../../../apps/server/test/certificate.ts'
import type { Case, SeenRequest } from './case.ts'
import { cases } from './cases.ts'
import { preflightReply } from './replies.ts'
import { createRequestReader, type ReadRequest } from './request-reader.ts'

export interface HostileServer {
  /** Where cases are opened, looked at and closed, and where files are served. */
  readonly controlUrl: string
  close(): Promise<void>
}

/** What the control replies when a case is opened. */
export interface OpenedCase {
  readonly key: string
  readonly baseUrl: string
  readonly refusedUrl: string
}

type Seen = { -readonly [Name in keyof SeenRequest]: SeenRequest[Name] }

interface RunningCase {
  readonly seen: SeenRequest[]
  readonly openedAt: number
  readonly opened: OpenedCase
  close(): void
}

export interface ServedFile {
  readonly type: string
  readonly content: string
}

/**
 * Where Linux has it, an address of its own: elsewhere, callers of other tests may still try the port of
 * a server that has ended, and it may be this server's by now.
 */
const HOST = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  return `http://${HOST}:${(server.address() as AddressInfo).port}`
}

/**
 * An address that refuses every connection: the local end of one, where nobody can listen while that
 * lasts. An address that was free a moment ago may be another listener's by now.
 */
async function holdRefusedAddress(): Promise<{ readonly url: string; free(): void }> {
  const keeper = createServer((socket) => void socket.on('error', () => {}))
  const { port } = new URL(await listen(keeper))
  const holder = connect({ port: Number(port), host: HOST, localAddress: HOST })
  await once(holder, 'connect')
  return {
    url: `http://${HOST}:${holder.localPort}`,
    free() {
      holder.destroy()
      keeper.close()
    },
  }
}

interface Parts {
  readonly script: Case
  readonly seen: Seen[]
  readonly openedAt: number
  otherUrl: string
  refuse(): void
}

function openWays(socket: Socket) {
  return {
    send(bytes: string | Uint8Array) {
      if (!socket.destroyed && socket.writable) socket.write(bytes)
    },
    end: () => void socket.end(),
    // A socket of TLS has no reset.
    reset: () => void (socket.resetAndDestroy ?? socket.destroy).call(socket),
    pause: (ms: number) => sleep(ms),
  }
}

async function play(parts: Parts, socket: Socket, request: Seen): Promise<void> {
  const attempt = parts.seen.filter(({ origin }) => origin === 'main').length
  await parts.script.script({
    attempt,
    request,
    otherUrl: parts.otherUrl,
    ...openWays(socket),
    store() {
      request.isStored = true
    },
    refuse: () => parts.refuse(),
  })
}

/** The first byte of what begins a TLS handshake (RFC 8446 §5.1). */
const HANDSHAKE = 0x16

const { certificate: cert, key } = createCertificate()

/** A listener that hands every request to the script of a case, byte for byte. */
function createCaseListener(parts: Parts, origin: 'main' | 'other'): [Server, Set<Socket>] {
  const sockets = new Set<Socket>()
  let connections = 0
  const accept = (socket: Socket) => {
    const connection = ++connections
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    if (parts.script.refusesConnection && connection === 1) {
      socket.resetAndDestroy()
      return
    }
    const onRequest = (read: ReadRequest) => {
      if (read.method === 'OPTIONS') {
        socket.end(preflightReply(read.headers['access-control-request-headers'] ?? ''))
        return
      }
      const atMs = performance.now() - parts.openedAt
      const request: Seen = { ...read, origin, atMs, connection, isStored: false }
      parts.seen.push(request)
      // A script that takes a stray request amiss must not end the server for the other cases.
      play(parts, socket, request).catch(() => socket.resetAndDestroy())
    }
    const read = createRequestReader(onRequest)
    socket.on('data', (bytes: Buffer) => {
      if (bytes[0] === HANDSHAKE) parts.script.onHandshake?.(openWays(socket))
      else read(bytes)
    })
  }
  const isTls = parts.script.isTls && origin === 'main'
  const server = isTls
    ? createTlsServer({ cert, key }, accept).on('tlsClientError', () => {})
    : createServer({ noDelay: true }, accept)
  return [server, sockets]
}

async function openCase(script: Case, key: string): Promise<RunningCase> {
  const seen: Seen[] = []
  const openedAt = performance.now()
  const parts: Parts = { script, seen, openedAt, otherUrl: '', refuse: () => void main.close() }
  const [other, otherSockets] = createCaseListener(parts, 'other')
  const [main, mainSockets] = createCaseListener(parts, 'main')
  parts.otherUrl = await listen(other)
  const refused = await holdRefusedAddress()
  const opened = { key, baseUrl: await listen(main), refusedUrl: refused.url }
  return {
    seen,
    openedAt,
    opened,
    close() {
      main.close()
      other.close()
      refused.free()
      for (const socket of [...mainSockets, ...otherSockets]) socket.destroy()
    },
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(value === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'access-control-allow-origin': '*',
  })
  response.end(JSON.stringify(value ?? null))
}

/**
 * Starts the control, from which any runtime opens cases by number: `/open/3` gives an OpenedCase,
 * `/seen/KEY` its requests so far, `/clock/KEY` the ms since then, and any other path one of the files.
 */
export async function startHostileServer(
  files: Readonly<Record<string, ServedFile>> = {},
): Promise<HostileServer> {
  const running = new Map<string, RunningCase>()
  let keys = 0

  async function open(index: number): Promise<OpenedCase | undefined> {
    const script = cases[index]
    if (script === undefined) return undefined
    const key = String(keys++)
    const one = await openCase(script, key)
    running.set(key, one)
    return one.opened
  }

  function millisecondsOf(key: string): number | undefined {
    const one = running.get(key)
    return one && performance.now() - one.openedAt
  }

  const control = createHttpServer(async (request, response) => {
    const [, verb = '', argument = ''] = (request.url ?? '').split('/')
    const file = files[verb]
    if (verb === 'open') sendJson(response, await open(Number(argument)))
    else if (verb === 'seen') sendJson(response, running.get(argument)?.seen)
    else if (verb === 'clock') sendJson(response, millisecondsOf(argument))
    else if (file !== undefined) {
      response.writeHead(200, { 'content-type': file.type })
      response.end(file.content)
    } else sendJson(response, undefined)
  })
  return {
    controlUrl: await listen(control),
    async close() {
      for (const { close } of running.values()) close()
      control.closeAllConnections()
      await new Promise((resolve) => control.close(resolve))
    },
  }
}
