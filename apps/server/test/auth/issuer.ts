import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { onTestFinished } from 'vitest'
import { findFreePort } from '../../../../test/free-port.ts'
import type { SigningKey } from './sign-jwt.ts'

/** An identity provider on loopback, as far as a resource server sees one: its keys by HTTP. */
export class Issuer {
  keys: readonly SigningKey[]
  /** How often the keys were asked for. */
  fetches = 0
  /** Answers instead of the keys, while set. */
  reply: RequestListener | undefined
  readonly #server: Server
  #port = 0

  constructor(...keys: SigningKey[]) {
    this.keys = keys
    this.#server = createServer((request, response) => {
      this.fetches++
      if (this.reply !== undefined) this.reply(request, response)
      else response.end(this.keySet)
    })
  }

  get keySet(): string {
    return JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/keys`
  }

  /** On the port that it had before, if any. */
  async start(): Promise<void> {
    this.#port ||= await findFreePort()
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening')
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close().closeAllConnections()
    await once(this.#server, 'close')
  }
}

/** An issuer with one key that listens until the end of the test. */
export async function startIssuer(key: SigningKey, reply?: RequestListener): Promise<Issuer> {
  const issuer = new Issuer(key)
  issuer.reply = reply
  await issuer.start()
  onTestFinished(() => issuer.stop())
  return issuer
}
