import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { blocksOf } from '../../../docs/test/markdown.ts'

const CLIENTS = join(import.meta.dirname, '../clients')

test('the blocks of docs/clients.md are the files that `pnpm interop` runs', () => {
  const shown = blocksOf('docs/clients.md').map(({ text }) => text)
  const programs = globSync('*/*.{ts,mjs,go,py,java}', { cwd: CLIENTS })
  expect(programs.length).toBeGreaterThan(3)
  for (const path of programs) expect(shown).toContain(readFileSync(join(CLIENTS, path), 'utf8'))
  for (const folder of globSync('*', { cwd: CLIENTS })) {
    const read = (name: string) => readFileSync(join(CLIENTS, folder, name), 'utf8')
    const run = read('run.sh').replace('"$@"', '9223372036854775807 Fern indoor')
    expect(shown).toContain(read('make.sh') + run)
  }
})
