import { Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDeferReply } from '../../src/http/deferred-replies.ts'
import { createLog } from '../../src/telemetry/log.ts'

const log = createLog('silent')
const socket = new Socket()

test('refusals are sent in order, after the turn, 64 in each', async () => {
  const sent: number[] = []
  const deferReply = createDeferReply(log, () => 0)
  for (let index = 0; index < 150; index++) deferReply(socket, () => sent.push(index))
  for (const count of [0, 64, 128, 150]) {
    expect(sent).toEqual(Array.from({ length: count }, (_, index) => index))
    await endOfTurn()
  }
})

test('refusals that keep arriving are sent within about two seconds', async () => {
  let now = 0
  let longest = 0
  const deferReply = createDeferReply(log, () => now)
  for (let turn = 0; turn < 100; turn++) {
    for (let count = 0; count < 500; count++) {
      const since = now
      deferReply(socket, () => {
        longest = Math.max(longest, now - since)
      })
    }
    now += 50
    await endOfTurn()
  }
  expect(longest).toBeGreaterThan(1_000)
  expect(longest).toBeLessThanOrEqual(2_100)
})
