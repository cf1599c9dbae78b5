import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished } from 'vitest'
import { plantText, post } from '../../../../test/server-process.ts'
import { type OnEnd, temporaryFolder } from '../../../../test/temporary-folder.ts'
import { openAuthenticate } from '../../src/auth/authenticate.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startServer } from '../../src/http/server.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { Issuer } from './issuer.ts'
import { type Json, makeKey, type SigningKey, signJwt } from './sign-jwt.ts'

export const ISSUER = 'https://issuer.test/'
export const AUDIENCE = 'plants'
/** The settings of a server that takes its JWTs, but for where their keys are. */
export const JWT_RULES = { PLANT_STORE_JWT_ISSUER: ISSUER, PLANT_STORE_JWT_AUDIENCE: AUDIENCE }

export const START = Date.UTC(2030, 0, 1)
export const SECOND_MS = 1000
export const MINUTE_MS = 60_000

/** One key for the tests that need just some key; making one takes time. */
export const someKey = makeKey('some')

/** Claims that are good when the test's clock stands at START. */
export function claims(differences: Json = {}): Json {
  const seconds = START / 1000
  return { iss: ISSUER, aud: AUDIENCE, sub: 'gardener', exp: seconds + 600, ...differences }
}

export function good(differences: Json = {}, header: Json = {}, key: SigningKey = someKey): string {
  return signJwt(key, claims(differences), header)
}

/** A real server over a real store that takes the JWTs of an issuer, with clocks that the test turns. */
export async function startJwtService({
  issuer = new Issuer(someKey),
  flags = {},
  onEnd = onTestFinished,
}: {
  issuer?: Issuer
  flags?: Record<string, string>
  onEnd?: OnEnd
} = {}) {
  if (flags.jwksFile === undefined) await issuer.start()
  onEnd(() => issuer.stop())
  const source = flags.jwksFile === undefined ? { jwksUrl: issuer.url } : {}
  const places = { listen: '127.0.0.1:0', operationsListen: 'off' }
  const limits = { failedCredentialLimit: 'off', shutdownTimeoutMs: '100' }
  const config = loadConfig({ ...source, ...places, ...limits, ...flags }, JWT_RULES)
  const store = await openSqliteStore({ path: join(temporaryFolder(onEnd), 'plants.db') })
  const logLines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void logLines.push(line) })
  const clock = { time: START, age: 0 }
  const clocks = { now: () => clock.time, monotonic: () => clock.age }
  const stop = new AbortController()
  const parts = { log, stop: stop.signal, clocks }
  const authenticate = await openAuthenticate(store.tokens, config, parts)
  const server = await startServer(config, store, { authenticate, log })
  onEnd(async () => {
    stop.abort()
    await server.close()
    await store.close()
  })
  let id = 0
  async function create(token: string, body = plantText(++id)) {
    const response = await post({ url: server.url, token }, { body })
    const { status, headers } = response
    const { error, message } = (await response.json()) as { error?: number; message: string }
    const retryAfter = headers.get('retry-after')
    return { status, error, message, retryAfter, challenge: headers.get('www-authenticate') }
  }
  const statusOf = async (credential: string) => (await create(credential)).status
  const pass = (milliseconds: number) => {
    clock.time += milliseconds
    clock.age += milliseconds
  }
  async function expectAfter(milliseconds: number, credential: string, status: number) {
    pass(milliseconds)
    expect(await statusOf(credential)).toBe(status)
  }
  const service = { issuer, store, url: server.url, logLines, authenticate }
  return { ...service, create, statusOf, pass, expectAfter }
}
