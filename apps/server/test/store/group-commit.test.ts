import { describe, expect, test } from 'vitest'
import { OutcomeUnknownError, StoreUnavailableError } from '../../src/store/store.ts'
import { openGroup, turnOfEventLoop } from './open-group.ts'

describe('group commit', () => {
  test('what arrives while a commit runs shares the next one, in order', async () => {
    const { batches, ends, group } = openGroup()
    const outcomes = [group.add(1)]
    await turnOfEventLoop()
    outcomes.push(group.add(2), group.add(3), group.add(4))
    await turnOfEventLoop()
    expect(batches).toEqual([[1]])
    ends[0]?.resolve()
    await outcomes[0]
    await turnOfEventLoop()
    expect(batches).toEqual([[1], [2, 3, 4]])
    ends[1]?.resolve()
    expect(await Promise.all(outcomes)).toEqual(['stored 1', 'stored 2', 'stored 3', 'stored 4'])
  })

  test('a failed commit fails its own batch and not the next', async () => {
    const { ends, group } = openGroup()
    const first = group.add(1)
    await turnOfEventLoop()
    const second = group.add(2)
    ends[0]?.reject(new StoreUnavailableError('the disk is full'))
    await expect(first).rejects.toThrow('the disk is full')
    await turnOfEventLoop()
    ends[1]?.resolve()
    expect(await second).toBe('stored 2')
  })

  test('after a failure all that waits gets its error, and nothing more is taken', async () => {
    const { batches, ends, group } = openGroup()
    const first = group.add(1)
    await turnOfEventLoop()
    const second = group.add(2)
    const failure = new OutcomeUnknownError('the sync failed')
    group.fail(failure)
    ends[0]?.reject(failure)
    await expect(first).rejects.toThrow(failure)
    await expect(second).rejects.toThrow(failure)
    await expect(group.add(3)).rejects.toThrow(StoreUnavailableError)
    await turnOfEventLoop()
    expect(batches).toEqual([[1]])
    await group.close()
  })

  test('beside a commit that takes long, and only then, the next one starts', async () => {
    const besideAfterMs = 30
    const { batches, ends, group } = openGroup({ commitsInFlight: 2, besideAfterMs })
    const start = performance.now()
    const outcomes = [group.add(1)]
    await turnOfEventLoop()
    outcomes.push(group.add(2), group.add(3))
    while (batches.length < 2) await turnOfEventLoop()
    expect(performance.now() - start).toBeGreaterThanOrEqual(besideAfterMs)
    expect(batches).toEqual([[1], [2, 3]])
    for (const end of ends) end.resolve()
    await Promise.all(outcomes)
    await group.close()
  })

  test('a commit that ends soon is followed at once, whatever the wait beside it', async () => {
    const { batches, ends, group } = openGroup({ commitsInFlight: 2, besideAfterMs: 3_600_000 })
    const outcomes = [group.add(1)]
    await turnOfEventLoop()
    outcomes.push(group.add(2))
    ends[0]?.resolve()
    await outcomes[0]
    expect(batches).toEqual([[1], [2]])
    ends[1]?.resolve()
    await outcomes[1]
    outcomes.push(group.add(3))
    await turnOfEventLoop()
    expect(batches).toEqual([[1], [2], [3]])
    ends[2]?.resolve()
    await group.close()
  })
})
