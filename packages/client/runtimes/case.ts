import type * as Library from '../src/index.ts'

/** What a server that is out to hurt sees of one request. */
export interface SeenRequest {
  /** `other` is a second origin, which no request should ever reach. */
  readonly origin: 'main' | 'other'
  readonly method: string
  readonly path: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** ms since the server opened the case. */
  readonly atMs: number
  /** Counts the TCP connections of the case, from 1. */
  readonly connection: number
  /** Whether the server has stored its plant, whatever it replied. */
  readonly isStored: boolean
}

/** One request and the socket it came on, to be answered byte by byte. */
export interface Exchange {
  /** The number of the request in its case, from 1; preflights are not counted. */
  readonly attempt: number
  readonly request: SeenRequest
  /** The second origin, such as `http://127.0.0.1:4711`. */
  readonly otherUrl: string
  /** Text goes out as UTF-8. */
  send(bytes: string | Uint8Array): void
  /** Notes that the plant of this request is stored. */
  store(): void
  /** Takes no further connections. */
  refuse(): void
  /** Ends the connection in order (FIN). */
  end(): void
  /** Cuts the connection off (RST). */
  reset(): void
  pause(ms: number): Promise<void>
}

export type Script = (exchange: Exchange) => void | Promise<void>

export type RuntimeKind = 'node' | 'bun' | 'deno' | 'browser'

type ClientOptions = Parameters<typeof Library.createPlantStoreClient>[0]

/** What a check may use: the client under test, the addresses of its server, what that has seen. */
export interface CaseTools {
  readonly library: typeof Library
  /** Whether this runtime is one of those where the check demands something else. */
  readonly differs: boolean
  readonly baseUrl: string
  /** The same by https, whatever the server speaks. */
  readonly tlsUrl: string
  /** Where the package undici is; undefined but on Node.js. */
  readonly undiciUrl: string | undefined
  /** Nobody listens there. */
  readonly refusedUrl: string
  /** A client of this server with short timeouts; each of its events is searched for the token. */
  client(options?: Partial<ClientOptions>): ReturnType<typeof Library.createPlantStoreClient>
  /** Every request so far, preflights left out. */
  seen(): Promise<readonly SeenRequest[]>
  /** Whether a request so far has had its plant stored. */
  isStored(): Promise<boolean>
  /**
   * What a call rejects with.
   * @throws when it resolves, rejects with no PlantStoreError, or the error shows the token, a
   * control character or a blank reason, or is contradicted by what is stored.
   */
  failureOf(call: Promise<unknown>): Promise<Library.PlantStoreError>
}

export interface Case {
  /** A sentence that the check decides. */
  readonly claim: string
  readonly script: Script
  /** What the server does to a new connection before any byte; true ends the matter there. */
  readonly refusesConnection?: true
  /** Whether it speaks TLS, under a certificate that nobody trusts. */
  readonly isTls?: true
  /** What it does to the beginning of a TLS handshake where it speaks none; by default, nothing. */
  readonly onHandshake?: (exchange: Pick<Exchange, 'send' | 'end' | 'reset' | 'pause'>) => unknown
  readonly check: (tools: CaseTools) => Promise<void>
  /** Watches something global, such as timers, so that no other case may run beside it. */
  readonly isAlone?: true
  /** Where the check demands something else, or nothing, and why. */
  readonly differs?: Partial<Record<RuntimeKind, string>>
}

/** Why a refusal that may pass says less where the runtime may send twice. */
export const OPEN_AFTER_REFUSAL = {
  browser: 'the runtime may have sent the request twice, so a refusal that may pass is `maybe`',
  deno: 'the runtime may have sent the request twice, so a refusal that may pass is `maybe`',
} as const
