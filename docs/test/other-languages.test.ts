import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../../packages/client/hostile/needs.ts'
import { startRealServer } from '../../packages/client/hostile/real-server.ts'
import { runInShell } from './fresh-copy.ts'
import { blockWith, root } from './markdown.ts'

const MAKE = blockWith('README.md', 'openapi-python-client').text

const hasPython = spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0

test('a client in Python is made from a running server and creates a plant, its id exact', {
  ...needs('python3 with venv', hasPython),
  timeout: 300_000,
}, async () => {
  const server = await startRealServer()
  onTestFinished(async () => void (await server.endAndRead()))
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-python-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(join(root, 'examples'), join(folder, 'examples'), { recursive: true })

  const here = { PLANT_STORE_BASE_URL: server.url, PLANT_STORE_TOKEN: server.token }
  const lines = `set -e\n${MAKE.replace('http://127.0.0.1:3000', server.url)}`
  expect(await runInShell(folder, lines, here).ended).toMatch(
    /^Plant\(name='Fern', tag='indoor', /m,
  )
  expect(server.readNames()).toEqual(new Map([[9223372036854775806n, 'Fern']]))
})
