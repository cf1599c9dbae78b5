import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../../packages/client/runtimes/needs.ts'
import { findNode, haveNodes } from '../nodes.ts'
import { newDatabase, openStoreAt, usePostgres } from '../use-postgres.ts'

const postgres = usePostgres()

const areThere = needs('a database with nodes', await haveNodes())

test('a lone repeat waits until the standby of its node has the plant', areThere, async () => {
  const databaseUrl = await newDatabase(postgres)
  const store = await openStoreAt(databaseUrl)
  const create = (id: bigint) => store.plants.create({ id, name: 'Fern' })
  const node = await findNode(databaseUrl)
  // Enough that the node has some of them.
  const ids = Array.from({ length: 64 }, (_, index) => BigInt(index))
  for (const id of ids) await create(id)
  onTestFinished(() => node.set('synchronous_standby_names', 'DEFAULT'))
  await node.set('synchronous_standby_names', "'nobody'")
  // One after the other: a batch of several nodes would wait to be prepared, repeats or not.
  let waiting: Promise<unknown> | undefined
  for (const id of ids) {
    const outcome = create(id)
    const isLate = new Promise((resolve) => setTimeout(resolve, 1_000, 'late'))
    if ((await Promise.race([outcome, isLate])) === 'late') {
      waiting = outcome
      break
    }
  }
  expect(waiting).toBeDefined()
  await node.set('synchronous_standby_names', 'DEFAULT')
  expect(await waiting).toBe('already_there')
})
