import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../../packages/client/hostile/needs.ts'
import { findNode, haveNodes } from '../nodes.ts'
import { newDatabase, openStoreAt, usePostgres } from '../use-postgres.ts'

const postgres = usePostgres()

const areThere = needs('a database with nodes', await haveNodes())

test('a repeat waits until the standby of its node has the plant', areThere, async () => {
  const databaseUrl = await newDatabase(postgres)
  const store = await openStoreAt(databaseUrl, 8192)
  const node = await findNode(databaseUrl)
  // Enough that the node has some of them.
  const ids = Array.from({ length: 64 }, (_, index) => BigInt(index))
  const createAll = () => Promise.all(ids.map((id) => store.plants.create({ id, name: 'Fern' })))
  await createAll()
  onTestFinished(() => node.set('synchronous_standby_names', 'DEFAULT'))
  await node.set('synchronous_standby_names', "'nobody'")
  const outcomes = createAll()
  const first = await Promise.race([
    outcomes.then(() => 'answered'),
    new Promise((resolve) => setTimeout(resolve, 2_000, 'waiting')),
  ])
  expect(first).toBe('waiting')
  await node.set('synchronous_standby_names', 'DEFAULT')
  expect(new Set(await outcomes)).toEqual(new Set(['already_there']))
})
