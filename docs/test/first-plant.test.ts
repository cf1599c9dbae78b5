import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyFreshly, runInShell } from './fresh-copy.ts'
import { blockWith } from './markdown.ts'

const ADDRESS = 'http://127.0.0.1:3000'
const START = blockWith('README.md', 'pnpm@12.16.0 start').text
const CREATE = blockWith('README.md', 'curl').text.replace(/^export.*\n/, '')
const RESPONSE = blockWith('README.md', 'HTTP/1.1 200 OK').text.trim().split('\n')

test('a newcomer stores a plant from the README alone, and a kill loses nothing', {
  timeout: 300_000,
}, async () => {
  const folder = copyFreshly()
  // One stream, so that the order of its lines is that of a terminal.
  const first = runInShell(folder, `${START.trim()} 2>&1`)
  const [, above, line = ''] = await first.print(
    /^([\s\S]*?)Plant Store listens [\s\S]*^ +(curl .*)$/m,
  )
  expect(above).toBe('Installing what the server needs, which is done once …\n')
  const stored = await runInShell(folder, line).ended
  for (const shown of RESPONSE) expect(stored).toContain(shown)
  await first.kill()

  const second = runInShell(folder, START)
  const [, address = ''] = await second.print(/listens on (\S+)/)
  const pasted = line.replace(/http:\/\/[\d.:]+/, address)
  expect(await runInShell(folder, pasted).ended).toMatch(/^HTTP\/1\.1 200 OK/m)
  const renamed = await runInShell(folder, pasted.replace('Fern', 'Moss')).ended
  expect(renamed).toMatch(/^HTTP\/1\.1 400 Bad Request[\s\S]*"error":40003/m)

  const token = /plant_\w[\w-]+/.exec(line)?.[0] ?? ''
  const here = { PLANT_STORE_TOKEN: token, PLANT_STORE_BASE_URL: address }
  const created = await runInShell(folder, CREATE.replace(ADDRESS, address), here).ended
  expect(created).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*{"name":"Fern","tag":"indoor"}/m)

  cpSync(join(folder, 'examples/first-plant.ts'), join(folder, 'examples/pasted.ts'))
  const example = runInShell(folder, 'npx -y pnpm@12.16.0 exec node examples/pasted.ts', here)
  expect(await example.ended).toMatch(/^\{ name: 'Moss' \}$/m)
  await second.kill()
})
