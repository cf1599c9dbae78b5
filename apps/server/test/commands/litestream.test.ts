import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { readRoot } from '../process/node-flags.ts'
import { startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { addPlants, spreadPlants } from './plants.ts'
import { runShell } from './shell.ts'

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
  const [, block = ''] = /^```text\n(litestream .*?)^```$/ms.exec(readRoot('docs/operate.md')) ?? []
  return block
    .trim()
    .replaceAll('/var/lib/plant-store/', '')
    .replaceAll('s3://BUCKET/plants', '"file://$PWD/replica"')
    .replaceAll('plant-store-server', 'server')
    .replaceAll(/^litestream/gm, `'${program}'`)
    .split('\n')
}

/** The SHA-256 of an export; undefined where there is none. */
async function exportFrom(folder: string, flags = ''): Promise<string | undefined> {
  const { code, out } = await runShell(folder, `server export ${flags} | sha256sum`)
  return code === 0 ? out : undefined
}

async function end(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill(signal)
  await ended
}

/** Resolves once the replica holds what the store holds. */
async function waitForReplica(folder: string, restore: string, sha256: string): Promise<void> {
  for (let count = 1; ; count++) {
    const line = restore.replace(/-o \S+/, `-o try-${count}.db`)
    const { code } = await runShell(folder, line)
    if (code !== 0) continue
    if ((await exportFrom(folder, `--database-url sqlite:try-${count}.db`)) === sha256) {
      return
    }
  }
}

describe(
  'Litestream',
  needs('@flydotio/litestream for this machine', program !== undefined),
  () => {
    test('brings back every plant, checkpoints and a kill notwithstanding', {
      timeout: 180_000,
    }, async () => {
      const [replicate = '', restore = '', fill = ''] = readLines()
      const folder = temporaryFolder()
      const path = join(folder, 'data/plants.db')
      const server = await startServerProcess({ folder })
      const litestream = spawn('sh', ['-c', `exec ${replicate}`], { cwd: folder, stdio: 'ignore' })
      onTestFinished(() => end(litestream, 'SIGKILL'))
      const plants = spreadPlants(60_000)
      const [first, ...others] = plants
      const emptyBytes = statSync(path).size
      for (let at = 0; at < others.length; at += 5_000)
        addPlants(path, others.slice(at, at + 5_000))
      if (first !== undefined) await server.client.createPlant(first)
      // Checkpoints have moved plants out of the log while Litestream read it.
      expect(statSync(path).size).toBeGreaterThan(emptyBytes + 100_000)
      const sha256 = (await exportFrom(folder)) ?? ''
      await waitForReplica(folder, restore, sha256)

      await server.end('SIGKILL')
      await end(litestream)
      for (const name of readdirSync(join(folder, 'data'))) {
        rmSync(join(folder, 'data', name), { recursive: true })
      }
      expect(await runShell(folder, `${restore} && ${fill}`)).toMatchObject({ code: 0 })
      expect(await exportFrom(folder)).toBe(sha256)
      const next = await startServerProcess({ folder, token: server.token })
      if (first !== undefined) await next.client.createPlant(first)
    })
  },
)
