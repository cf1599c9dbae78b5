/// <reference path="./pgpass.d.ts" />
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import pg, { type ClientConfig, type Connection } from 'pg'
import pgpass from 'pgpass'

/** How the server may ask who this is. */
export interface Authentication {
  /** Names of libpq's require_auth. */
  readonly methods: ReadonlySet<string>
  /** Whether the password must be bound to the server's certificate: channel_binding=require. */
  readonly isBound: boolean
}

const BOUND = 'SCRAM-SHA-256-PLUS'

/**
 * Ends a connection whose server asks for the password, or takes it as proven, in another way than
 * it may: libpq's require_auth and channel_binding=require, which pg does not know. Listens before
 * pg does: what pg writes to a connection that has ended is not sent.
 */
function guard(connection: Connection, { methods, isBound }: Authentication): void {
  let method = 'none'
  let isProven = false

  function refuse(why: string): void {
    connection.emit('error', new Error(`${why}; the password was not sent`))
    // Whatever the server says from here on.
    connection.removeAllListeners('readyForQuery')
  }

  function ask(asked: string, mechanisms: readonly string[] = []): void {
    method = asked
    const isBindable = mechanisms.includes(BOUND) && connection.stream instanceof TLSSocket
    if (!methods.has(asked)) refuse(`the server asked for ${asked}, which require_auth forbids`)
    else if (isBound && !isBindable)
      refuse(`the server offers no ${BOUND}, which channel_binding needs`)
  }

  function judge(): void {
    if (method === 'none') ask('none')
    else if (method === 'scram-sha-256' && !isProven) {
      refuse('the server let us in without a proof that it knows the password')
    }
  }

  connection.on('authenticationCleartextPassword', () => ask('password'))
  connection.on('authenticationMD5Password', () => ask('md5'))
  connection.on('authenticationSASL', ({ mechanisms }) => ask('scram-sha-256', mechanisms))
  connection.on('authenticationSASLFinal', () => {
    isProven = true
  })
  connection.once('authenticationOk', judge)
  connection.once('readyForQuery', judge)
}

/** A server asks for a password where none is said: pg would send the empty one, or give up later. */
export class MissingPasswordError extends Error {
  override name = 'MissingPasswordError'
  override message = 'the server asks for a password and there is none'
}

/** What pg takes, and how the server may ask for the password. */
export type GuardedConfig = ClientConfig & {
  readonly authentication: Authentication
  /** Where to connect, if that is not what `host` says. Passwords and certificates are for `host`. */
  readonly address?: string
}

/** pg knows one host: the place of a connection and the name of its certificate are the same to it. */
function toAddress({ host = '', address, ssl, ...others }: GuardedConfig): ClientConfig {
  if (address === undefined) return { host, ssl, ...others }
  if (!ssl) return { ...others, host: address, ssl }
  const said = ssl === true ? {} : ssl
  // pg makes a property of the key that is not copied.
  const key = said.key && { key: said.key }
  const name = { host, ...(isIP(host) === 0 && { servername: host }) }
  return { ...others, host: address, ssl: { ...said, ...key, ...name } }
}

/** A connection that sends its password only in the ways that its address allows. */
export class GuardedClient extends pg.Client {
  readonly #config: GuardedConfig

  constructor(config: GuardedConfig) {
    const password = config.password || (() => this.#readPassword())
    super({ ...toAddress(config), password })
    this.#config = config
    // A server that is given up on would keep this process from ending until it gives up as well.
    this.connection.on('error', () => this.abandon())
    guard(this.connection, config.authentication)
  }

  /** Whether this is a connection to the server that `config` describes. */
  isTo({ host, port, address }: GuardedConfig): boolean {
    const own = this.#config
    return own.host === host && own.port === port && own.address === address
  }

  /** Cuts the connection; what waits for a reply fails. */
  abandon(): void {
    this.connection.stream.destroy()
  }

  /** As libpq does where no password is said, once the server asks. The empty one stands for none. */
  #readPassword(): Promise<string> {
    const { host = '', port = this.port } = this.#config
    const { database, user } = this
    return new Promise((resolve, reject) => {
      pgpass({ host, port, database, user }, (password) => {
        if (password) resolve(password)
        else reject(new MissingPasswordError())
      })
    })
  }
}
