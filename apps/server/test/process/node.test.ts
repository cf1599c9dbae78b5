import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT, readRoot } from '../../../../test/root.ts'
import { createMany, startServerProcess } from '../../../../test/server-process.ts'
import { MAIN } from '../../../../test/start-program.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { nodeFlagsOf, unitCommand } from './node-flags.ts'

/** A flag that runs lines before the program, in each of its threads. */
function importing(lines: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(lines)}`
}

describe('an older Node.js', () => {
  /** Others that this machine may have, and what the client is tried on. */
  const others = [
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node')),
    join(ROOT, 'packages/client/runtimes/programs/node_modules/nodejs-22/bin/node'),
  ]
  const old = [...new Set(others)]
    .filter((node) => existsSync(node))
    .map((node) => ({ node, version: execFileSync(node, ['-v']).toString().trim().slice(1) }))
    .filter(({ version }) => Number.parseInt(version, 10) < 24)

  /** This one, by a version that it has not: what it prints is the same. */
  const posing = ['20.20.2', '22.23.3', '23.11.1'].map((version) => {
    const value = `{ value: { ...process.versions, node: '${version}' } }`
    const flag = importing(`Object.defineProperty(process, 'versions', ${value})`)
    return { node: process.execPath, version, flag }
  })

  test.each([...posing, ...old.map((one) => ({ ...one, flag: '--no-warnings' }))])(
    '$version is refused in one sentence with 78, whatever the command',
    ({ node, version, flag }) => {
      for (const args of [[], ['token', 'list'], ['--help']]) {
        // One that is taken would serve.
        const options = { cwd: temporaryFolder(), encoding: 'utf8', timeout: 30_000 } as const
        const { status, stdout, stderr } = spawnSync(node, [flag, MAIN, ...args], options)
        const says = `Node.js ${version}, started as ${node}, is too old. Try: Node.js 24 or newer`
        expect({ status, stdout, stderr }).toEqual({
          ...{ status: 78, stdout: '', stderr: `plant-store-server: ${says}\n` },
        })
      }
    },
  )
})

describe('the server needs no flag of Node', () => {
  const PROGRAM = 'dist/main.js'

  test('in the scripts that start it, nor in its own first line', () => {
    const scripts = Object.entries<string>(JSON.parse(readRoot('package.json')).scripts)
      .filter(([, script]) => script.includes(PROGRAM))
      .map(([name, script]) => [name, script.slice(script.lastIndexOf('node '))])
    const command = `node apps/server/${PROGRAM}`
    expect(scripts).toEqual([
      ['start', command],
      ['server', command],
    ])
    for (const file of [PROGRAM, 'src/main.ts']) {
      expect(readRoot(`apps/server/${file}`)).toMatch(/^#!\/usr\/bin\/env node\n/)
    }
  })

  test('but for those of the permission model, the same wherever it is documented', () => {
    const flags = nodeFlagsOf(unitCommand())
    expect(flags[0]).toBe('--permission')
    expect(flags).not.toContain('--allow-net')
    for (const flag of flags.slice(1)) expect(flag).toMatch(/^--(?:allow-|disable-warning=PERM)/)
    const [, container = ''] = /^ENTRYPOINT (.*)$/m.exec(readRoot('operations/Containerfile')) ?? []
    const documented = globSync('docs/*.md', { cwd: ROOT })
      .flatMap((page) => readRoot(page).replaceAll('\\\n', ' ').split('\n'))
      .filter((line) => line.startsWith('node --'))
    for (const command of [JSON.parse(container).join(' '), ...documented]) {
      expect(nodeFlagsOf(command)).toEqual(flags)
    }
  })
})

test('in none of its threads an object has __proto__', async () => {
  const says = `writeSync(2, 'inherits: ' + ('__proto__' in {}) + ';')`
  const program = `import { writeSync } from 'node:fs'; process.on('exit', () => ${says})`
  const server = await startServerProcess({ nodeFlags: [importing(program)] })
  await createMany(server, 1)
  const said = (await server.end()).err.match(/inherits: \w+/g) ?? []
  expect(said.length).toBeGreaterThanOrEqual(2)
  expect(new Set(said)).toEqual(new Set(['inherits: false']))
})

describe('WebAssembly', () => {
  /** Opens a store a few times: each starts a thread, whose types are stripped. */
  const OPEN_STORES = `
const { openSqliteStore } = await import('${join(import.meta.dirname, '../../src/sqlite/store.ts')}')
for (let id = 0n; id < 4n; id++) {
  const store = await openSqliteStore({ path: 'plants.db' })
  await store.plants.create({ id, name: 'Fern' })
  await store.close()
}`

  test('is freed by no thread that tests start from sources, which can crash', () => {
    const flags = [...process.execArgv, '--trace-wasm-code-gc', '--input-type=module']
    const options = { cwd: temporaryFolder(), encoding: 'utf8' } as const
    const args = [...flags, '--eval', OPEN_STORES]
    const { status, stdout } = spawnSync(process.execPath, args, options)
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })

  test('is needed in none of the threads of a server', async () => {
    // There is none without code that is made at run time.
    const server = await startServerProcess({ nodeFlags: ['--jitless'] })
    await createMany(server, 50)
    expect(await server.end()).toMatchObject({ code: 0 })
  })
})

test('the nursery grows where plants are created, to about 16 MiB at most', async () => {
  const nodeFlags = ['--import', join(import.meta.dirname, 'report-nursery.ts')]
  const server = await startServerProcess({ nodeFlags })
  /** The largest nursery so far, in MiB: of the main thread, or of any. */
  const largest = (thread: string) => {
    const sizes = server.output().matchAll(new RegExp(`^nursery of ${thread}: (.*) MiB$`, 'gm'))
    return Math.max(0, ...Array.from(sizes, ([, size]) => Number(size)))
  }
  // A full one would keep those of other threads small.
  expect(largest('main')).toBeLessThanOrEqual(8)
  for (let from = 0; largest('main') < 8; from += 100) await createMany(server, 100, { from })
  await server.end()
  // Some pages more while they are collected.
  expect(largest('.*')).toBeLessThan(32)
})
