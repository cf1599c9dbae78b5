import { describe, expect, test } from 'vitest'
import { endOfMicrotasks, openGroup, turnOfEventLoop } from './open-group.ts'

describe('group commit within a turn of the event loop', () => {
  test('after an item that came alone, the next one is committed at once', async () => {
    const { batches, ends, group } = openGroup()
    const outcomes = [group.add(1)]
    await turnOfEventLoop()
    ends[0]?.resolve()
    await outcomes[0]
    outcomes.push(group.add(2))
    expect(batches).toEqual([[1], [2]])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toEqual(['stored 1', 'stored 2'])
  })

  test('items that come together share commits, all but the first of them', async () => {
    const batches: number[][] = []
    const commit = async (batch: readonly number[]) => {
      batches.push([...batch])
      return batch.map(String)
    }
    const { group } = openGroup({ commit })
    await group.add(1)
    await turnOfEventLoop()
    for (const item of [2, 3, 4]) {
      void group.add(item)
      // Commits on this thread are done before the next request that has arrived is looked at.
      await endOfMicrotasks()
    }
    await turnOfEventLoop()
    await Promise.all([group.add(5), group.add(6)])
    expect(batches).toEqual([[1], [2], [3, 4], [5, 6]])
  })

  test('many items start a commit before the turn ends, and what follows them the next one', async () => {
    const { batches, ends, group } = openGroup()
    const outcomes = Array.from({ length: 60 }, (_, item) => group.add(item))
    expect(batches.map(({ length }) => length)).toEqual([24])
    await turnOfEventLoop()
    expect(batches).toHaveLength(1)
    ends[0]?.resolve()
    await outcomes[0]
    expect(batches.map(({ length }) => length)).toEqual([24, 36])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toHaveLength(60)
    expect(batches.flat()).toEqual(Array.from({ length: 60 }, (_, item) => item))
  })

  test('a commit that ends in the midst of a turn is followed in it, where many wait', async () => {
    let polls = 0
    const poll = () => {
      polls++
      ends[0]?.resolve()
    }
    const { batches, ends, group } = openGroup({ poll })
    const turn = new Promise((resolve) => setImmediate(resolve)).then(() => 'the turn is over')
    const outcomes = Array.from({ length: 47 }, (_, item) => group.add(item))
    expect(polls).toBe(0)
    outcomes.push(group.add(47))
    expect(await Promise.race([outcomes[23], turn])).toBe('stored 23')
    expect(polls).toBe(1)
    expect(batches.map(({ length }) => length)).toEqual([24, 24])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toHaveLength(48)
  })
})
