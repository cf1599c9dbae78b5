import { Socket } from 'node:net'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createDeferReply } from '../../src/http/deferred-replies.ts'
import { createLog } from '../../src/operations/log.ts'

const log = createLog('silent')
const socket = new Socket()

/** How many of so many refusals were told after each of so many turns that take so long. */
async function replyInTurns(count: number, turns: number, turnMs: number): Promise<number[]> {
  let now = 0
  const told: number[] = []
  const deferReply = createDeferReply(log, () => now)
  for (let index = 0; index < count; index++) deferReply(socket, () => told.push(index))
  const counts = [told.length]
  for (let turn = 0; turn < turns; turn++) {
    now += turnMs
    await endOfTurn()
    counts.push(told.length)
  }
  expect(told).toEqual(Array.from(told.keys()))
  return counts
}

test('refusals are told in order, after the turn and 64 in each', async () => {
  expect(await replyInTurns(150, 3, 1)).toEqual([0, 64, 128, 150])
})

test('where turns are long, more are told in each', async () => {
  expect(await replyInTurns(10_000, 2, 100)).toEqual([0, 500, 975])
})

test('those that come one after the other are told within about two seconds', async () => {
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
