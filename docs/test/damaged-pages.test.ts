import { join } from 'node:path'
import { expect, test } from 'vitest'
import { damagePage, leavesOf } from '../../apps/server/test/commands/plants.ts'
import { arrange, ends } from '../../apps/server/test/commands/program.ts'
import { createMany, startServerProcess } from '../../test/server-process.ts'
import { readPlants } from '../../test/sqlite-file.ts'
import { blockWith, root } from './markdown.ts'

const START = 'systemctl start plant-store\n'
const [BEFORE = '', AFTER = ''] = blockWith('docs/runbook.md', START).text.split(START)

const CLI = `'${process.execPath}' '${join(root, 'apps/cli/dist/main.js')}'`

/** Before the backup, and in all. */
const [BACKED_UP, ALL] = [1_500, 3_000]

test('after damage all plants but those of the damaged page come back, also those after the backup', {
  timeout: 120_000,
}, async () => {
  const { folder, path, shell } = await arrange()
  const run = (lines: string, environment = '') => {
    const programs = lines
      .replaceAll('plant-store-server', 'server')
      .replaceAll('plant-store import', `${environment} ${CLI} import`)
    return shell(programs.replace('BACKUP', 'backup.db'))
  }
  const server = await startServerProcess({ folder })
  const createFrom = async (first: number, end: number) => {
    for (let from = first; from < end; from += 500) await createMany(server, 500, { from })
  }
  await createFrom(0, BACKED_UP)
  expect(await run('plant-store-server backup backup.db')).toMatchObject({ code: 0 })
  await createFrom(BACKED_UP, ALL)
  await server.end()
  const [early, late] = [leavesOf(path).at(3), leavesOf(path).at(-3)]
  for (const page of [early, late]) damagePage(path, page?.at ?? 0)

  expect(await run(BEFORE)).toMatchObject({ code: 0 })
  const { url, token } = await startServerProcess({ folder, token: server.token })
  const [exporting = '', importing = ''] = AFTER.trim().split('\n')
  const exported = await run(exporting)
  expect(exported).toMatchObject(ends(65, 'the store is damaged', ''))
  const login = `PLANT_STORE_BASE_URL=${url} PLANT_STORE_TOKEN=${token}`
  expect(await run(importing, login)).toMatchObject({ code: 0 })

  const stored = new Set(readPlants(path).map(({ id }) => Number(id)))
  const lost = Array.from({ length: ALL }, (_, id) => id).filter((id) => !stored.has(id))
  expect(lost).toHaveLength(late?.plants ?? 0)
  const gaps = Array.from(exported.err.matchAll(/ids from (\d+) to (\d+)/g), ([, ...ids]) =>
    ids.map(Number),
  )
  expect(gaps).toContainEqual([lost.at(0), lost.at(-1)])
})
