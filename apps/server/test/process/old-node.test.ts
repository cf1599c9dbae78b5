import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { MAIN } from './main.ts'

const PACKAGE = join(import.meta.dirname, '../..')

/** Other Nodes that this machine may have, and what the client is tried on. */
const OTHERS = [
  ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node')),
  join(PACKAGE, '../../packages/client/runtimes/programs/node_modules/nodejs-22/bin/node'),
]

function versionOf(node: string): string {
  return spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1)
}

const old = [...new Set(OTHERS)]
  .filter((node) => existsSync(node))
  .map((node) => ({ node, version: versionOf(node), flags: [] as string[] }))
  .filter(({ version }) => Number.parseInt(version, 10) < 24)

/** This one, by a version that it has not: what it prints is the same. */
const posing = ['20.20.2', '22.23.3', '23.11.1'].map((version) => {
  const script = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(script)}`]
  return { node: process.execPath, version, flags }
})

test.each([...posing, ...old])(
  'Node.js $version is refused in one sentence with 78, whatever the command',
  ({ node, version, flags }) => {
    for (const args of [[], ['token', 'list'], ['--help']]) {
      const { status, stdout, stderr } = spawnSync(node, [...flags, MAIN, ...args], {
        cwd: temporaryFolder(),
        encoding: 'utf8',
        // One that is taken would serve.
        timeout: 30_000,
      })
      expect({ status, stdout }).toEqual({ status: 78, stdout: '' })
      expect(stderr).toBe(
        `plant-store-server: Node.js ${version}, started as ${node}, is too old. ` +
          'Try: Node.js 24 or newer\n',
      )
    }
  },
)
