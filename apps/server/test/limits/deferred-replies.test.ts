import { Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDeferReply } from '../../src/http/deferred-replies.ts'
import { createLog } from '../../src/operations/log.ts'

const log = createLog('silent')
const socket = new Socket()

/** How many of `count` refusals were sent at the beginning and after each of the turns. */
async function replyInTurns(count: number, turns: number, turnMs: number): Promise<number[]> {
  let now = 0
  const sent: number[] = []
  const deferReply = createDeferReply(log, () => now)
  for (let index = 0; index < count; index++) deferReply(socket, () => sent.push(index))
  const counts = [sent.length]
  for (let turn = 0; turn < turns; turn++) {
    now += turnMs
    await endOfTurn()
    counts.push(sent.length)
  }
  expect(sent).toEqual(Array.from(sent.keys()))
  return counts
}

test('refusals are sent in order, after the turn, 64 in each', async () => {
  expect(await replyInTurns(150, 3, 1)).toEqual([0, 64, 128, 150])
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
