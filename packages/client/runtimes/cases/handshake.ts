import type { PlantStoreError } from '../../src/index.ts'
import { assertEqual } from '../assertions.ts'
import type { Case, CaseTools } from '../case.ts'
import { stored } from '../replies.ts'
import { PLANT } from './plants.ts'

const OPAQUE = 'a page cannot see why a request failed, so it cannot know that nothing was sent'
const NO_STAGE = 'its error does not say how far the connection had come'

/** Longer than any of the calls; some runtimes stay alive for a handshake that nobody waits for. */
const STALL_MS = 1_500

const stall: Case['onHandshake'] = async ({ pause, reset }) => {
  await pause(STALL_MS)
  reset()
}

async function failByTls(
  { client, failureOf, tlsUrl }: CaseTools,
  maxRetries = 3,
): Promise<PlantStoreError> {
  const options = { baseUrl: tlsUrl, maxRetries, timeoutMs: 800 }
  return failureOf(client(options).createPlant(PLANT))
}

async function assertNothingIsSent({ seen }: CaseTools): Promise<void> {
  assertEqual((await seen()).length, 0, 'requests')
}

/** The server cannot be spoken to, which no second request changes. */
async function checkRefused(tools: CaseTools): Promise<void> {
  const { applied, attempts, code } = await failByTls(tools)
  assertEqual(applied, tools.differs ? 'maybe' : 'no', 'applied')
  assertEqual(code, tools.differs ? 'connection_lost' : 'tls_failed', 'code')
  assertEqual(attempts, tools.differs ? 4 : 1, 'attempts')
  await assertNothingIsSent(tools)
}

export const handshakeCases: readonly Case[] = [
  {
    claim: 'a port that speaks no TLS surely stored nothing, and is asked once',
    onHandshake({ send, end }) {
      send('HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
      end()
    },
    script: ({ send }) => send(stored()),
    differs: { browser: OPAQUE },
    check: checkRefused,
  },
  {
    claim: 'a handshake that stalls until the time is up surely stored nothing',
    onHandshake: stall,
    script: ({ send }) => send(stored()),
    differs: { browser: OPAQUE, bun: NO_STAGE, deno: NO_STAGE },
    async check(tools) {
      const { applied, code } = await failByTls(tools, 0)
      assertEqual([applied, code], [tools.differs ? 'maybe' : 'no', 'attempt_timeout'], 'error')
      await assertNothingIsSent(tools)
    },
  },
  {
    claim: 'a handshake that is cut surely stored nothing',
    onHandshake: ({ reset }) => reset(),
    script: ({ send }) => send(stored()),
    differs: { browser: OPAQUE, bun: NO_STAGE },
    async check(tools) {
      const { applied } = await failByTls(tools, 1)
      assertEqual(applied, tools.differs ? 'maybe' : 'no', 'applied')
      await assertNothingIsSent(tools)
    },
  },
  {
    claim: 'a certificate that is not trusted surely stored nothing, and is asked for once',
    isTls: true,
    script: ({ send }) => send(stored()),
    differs: { browser: OPAQUE },
    check: checkRefused,
  },
  {
    claim: 'a call that is aborted in the middle of a handshake surely stored nothing',
    onHandshake: stall,
    script: ({ send }) => send(stored()),
    differs: { browser: OPAQUE, bun: NO_STAGE, deno: NO_STAGE },
    async check(tools) {
      const { client, differs, failureOf, tlsUrl } = tools
      const signal = AbortSignal.timeout(300)
      const call = client({ baseUrl: tlsUrl }).createPlant(PLANT, { signal })
      const { applied, code } = await failureOf(call)
      assertEqual([applied, code], [differs ? 'maybe' : 'no', 'aborted'], 'error')
      await assertNothingIsSent(tools)
    },
  },
]
