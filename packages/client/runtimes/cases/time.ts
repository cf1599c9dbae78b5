import { assertEqual, assertOneOf, assertWithin } from '../assertions.ts'
import type { Case, Exchange } from '../case.ts'
import { reply, STORED_BODY, stored } from '../replies.ts'
import { PLANT } from './plants.ts'

/** What a busy machine may add; a limit that is not kept would take seconds or for ever. */
const SLACK_MS = 1_500

/** What an attempt may take; even a busy machine has the request arrive in less. */
const STALL_MS = 1_000

/** More than any attempt can take in before its time is up, and little enough to send. */
const ENDLESS_CHUNKS = 200

const CHUNK = `10000\r\n${'x'.repeat(0x10000)}\r\n`

async function drip(exchange: Exchange): Promise<void> {
  exchange.send(reply({ framing: 'content-length: 100000' }))
  while (exchange.isOpen) {
    exchange.send(' ')
    await exchange.pause(20)
  }
}

async function pour({ send, drained, pause }: Exchange): Promise<void> {
  send(reply({ framing: 'transfer-encoding: chunked' }))
  for (let sent = 0; sent < ENDLESS_CHUNKS; sent++) {
    send(CHUNK)
    await drained()
    await pause(2)
  }
}

function stallsInTheBody({ send }: Exchange): void {
  send(reply({ framing: `content-length: ${STORED_BODY.length}` }) + STORED_BODY.slice(0, 5))
}

/** The first attempt never ends by itself, the second is answered. */
function firstStalls(claim: string, stall: (exchange: Exchange) => void | Promise<void>): Case {
  return {
    claim,
    script: (exchange) => (exchange.attempt === 1 ? stall(exchange) : exchange.send(stored())),
    async check({ client, failureOf, seen }) {
      const begin = performance.now()
      const { applied, attempts, code } = await failureOf(
        client({ timeoutMs: STALL_MS, maxRetries: 0 }).createPlant(PLANT),
      )
      assertWithin(
        performance.now() - begin,
        STALL_MS - 10,
        STALL_MS + SLACK_MS,
        'time until it fails',
      )
      assertEqual({ applied, attempts, code }, UNANSWERED, 'the error')
      assertEqual((await seen()).length, 1, 'requests')
    },
  }
}

const UNANSWERED = { applied: 'maybe', attempts: 1, code: 'attempt_timeout' }

export const timeCases: readonly Case[] = [
  {
    ...firstStalls('headers that never come end with the time of the attempt', () => {}),
  },
  {
    ...firstStalls('a body that stalls ends with the time of the attempt', stallsInTheBody),
  },
  firstStalls('a body that drips byte by byte ends with the time of the attempt', drip),
  {
    claim: 'a body without end is given up once it is longer than any reply',
    script: pour,
    async check({ client, failureOf, seen }) {
      const begin = performance.now()
      const { applied, code } = await failureOf(
        client({ timeoutMs: 3_000, maxRetries: 0 }).createPlant(PLANT),
      )
      assertWithin(performance.now() - begin, 0, 1_500, 'time until it fails')
      assertEqual(code, 'unexpected_response', 'code')
      assertOneOf(applied, ['maybe', 'yes'], 'applied')
      assertEqual((await seen()).length, 1, 'requests')
    },
  },
]
