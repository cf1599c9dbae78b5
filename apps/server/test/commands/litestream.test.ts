import { readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import { readRoot } from '../../../../test/root.ts'
import { startServerProcess } from '../../../../test/server-process.ts'
import { startProgram } from '../../../../test/start-program.ts'
import { addPlants, spreadPlants } from './plants.ts'
import { arrange } from './program.ts'

/** The program of the npm package for this machine; undefined where there is none. */
function findBinary(): string | undefined {
  try {
    const wrapper = createRequire(import.meta.url).resolve('@flydotio/litestream')
    const name = `@flydotio/litestream-${process.platform}-${process.arch}`
    return createRequire(wrapper).resolve(`${name}/litestream`)
  } catch {
    return undefined
  }
}

const program = findBinary()

/** The lines of operate.md, with the places of a test. */
function readLines(): string[] {
  const [, block = ''] = /^```sh\n(litestream .*?)^```$/ms.exec(readRoot('docs/operate.md')) ?? []
  return block
    .trim()
    .replaceAll('/var/lib/plant-store/', '')
    .replaceAll('s3://BUCKET/plants', '"file://$PWD/replica"')
    .replaceAll('plant-store-server', 'server')
    .replaceAll(/^litestream/gm, `'${program}'`)
    .split('\n')
}

async function arrangeReplica() {
  const [replicate = '', restore = '', fill = ''] = readLines()
  const place = await arrange()
  const { folder, shell } = place
  /** The SHA-256 of an export; undefined where there is none. */
  const exportFrom = async (flags = '') => {
    const { code, out } = await shell(`server export ${flags} | sha256sum`)
    return code === 0 ? out : undefined
  }
  /** Resolves once the replica holds what the store holds. */
  const untilReplicaHolds = async (sha256: string | undefined) => {
    for (let count = 1, found: unknown; found !== sha256; count++) {
      const { code } = await shell(restore.replace(/-o \S+/, `-o try-${count}.db`))
      if (code === 0) found = await exportFrom(`--database-url sqlite:try-${count}.db`)
    }
  }
  const start = () => {
    const { kill } = startProgram(['sh', '-c', `exec ${replicate}`], { cwd: folder })
    return () => kill('SIGTERM')
  }
  const refill = () => shell(`${restore} && ${fill}`)
  return { ...place, exportFrom, untilReplicaHolds, start, refill }
}

test('Litestream brings back every plant, checkpoints and a kill notwithstanding', {
  ...needs('@flydotio/litestream for this machine', program !== undefined),
  timeout: 180_000,
}, async () => {
  const { folder, path, at, exportFrom, untilReplicaHolds, ...place } = await arrangeReplica()
  const server = await startServerProcess({ folder })
  const end = place.start()
  const plants = spreadPlants(60_000)
  const last = { id: 1n, name: 'Fern' }
  const emptyBytes = statSync(path).size
  for (let from = 0; from < plants.length; from += 5_000) {
    addPlants(path, plants.slice(from, from + 5_000))
  }
  await server.client.createPlant(last)
  // Checkpoints have moved plants out of the log while Litestream read it.
  expect(statSync(path).size).toBeGreaterThan(emptyBytes + 100_000)
  const sha256 = await exportFrom()
  expect(sha256).toMatch(/^\w{64}/)
  await untilReplicaHolds(sha256)

  await server.end('SIGKILL')
  await end()
  for (const name of readdirSync(at('data'))) rmSync(at(`data/${name}`), { recursive: true })
  expect(await place.refill()).toMatchObject({ code: 0 })
  expect(await exportFrom()).toBe(sha256)
  const next = await startServerProcess({ folder, token: server.token })
  await next.client.createPlant(last)
})
