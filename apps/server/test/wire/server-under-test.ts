import { randomUUID } from 'node:crypto'
import { expect, inject } from 'vitest'
import type { Flags } from '../../src/config/config.ts'
import { environmentNameOf, type SettingName } from '../../src/config/settings.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { startServerProcess } from '../process/server-process.ts'
import type { DatabaseUnderTest } from './database-under-test.ts'
import { token } from './request.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether servers are started with the flags of the systemd unit, instead of none. */
    readonly isConfined: boolean
  }
}

/** A server that listens over a database of its own. */
export interface ServerUnderTest {
  readonly port: number
  readonly operationsPort: number
  /** What it has logged so far, as far as it has come; one JSON text for each line. */
  readonly logLines: () => readonly string[]
  /** Resolves once all is in `logLines` that was logged before it was asked. */
  resolveLog(): Promise<void>
  /** The exit code, once it has ended by itself. */
  readonly ended: Promise<number | null>
  /** @throws when it does not end as it should. */
  stop(): Promise<void>
}

/** What only answers once the event loop has had a turn, whatever the store does. */
export const PROBE = 'livez'

/** Starts a server over a migrated database that holds a token; settings as the environment has them. */
export type StartServer = (database: DatabaseUnderTest, settings: Flags) => Promise<ServerUnderTest>

function portOf(url: string): number {
  return Number(new URL(url).port)
}

function toEnvironment(settings: Flags): Record<string, string> {
  const entries = Object.entries(settings) as [SettingName, string][]
  return Object.fromEntries(entries.map(([name, text]) => [environmentNameOf(name), text]))
}

/** The lines of a text that grows, each cut off once. */
function followLines(text: () => string): () => readonly string[] {
  const lines: string[] = []
  let read = 0
  return () => {
    const end = text().lastIndexOf('\n') + 1
    const whole = text().slice(read, end)
    lines.push(...whole.split('\n').slice(0, -1))
    read = end
    return lines
  }
}

/** What the program says to people before it ends by itself. */
const LAST_WORDS = /^plant-store-server: /

/** Starts the built program as a user does: without flags of Node, or with those of the unit. */
export const startProcess: StartServer = async ({ url, folder }, settings) => {
  const server = await startServerProcess({
    folder,
    token: token.text,
    nodeFlags: inject('isConfined') ? unitNodeFlags(folder) : [],
    environment: toEnvironment({ databaseUrl: url, logLevel: 'trace', ...settings }),
    // It serves all tests of a file.
    onStart: () => {},
  })
  const lines = followLines(server.output)
  let hasEnded = false
  const ended = server.ended.then(({ code }) => {
    hasEnded = true
    return code
  })
  return {
    port: portOf(server.url),
    operationsPort: portOf(server.operationsUrl),
    logLines: () => lines().filter((line) => !hasEnded || !LAST_WORDS.test(line)),
    ended,
    async resolveLog() {
      // A line is written before the next request is read, on whichever listener.
      const requestId = randomUUID()
      const asked = fetch(`${server.operationsUrl}/${PROBE}`, {
        headers: { 'x-request-id': requestId },
      }).then(() => server.untilLogged(requestId))
      await Promise.race([asked, ended])
    },
    async stop() {
      if (hasEnded) return
      server.kill('SIGTERM')
      expect(await server.ended).toMatchObject({ code: 0 })
    },
  }
}
