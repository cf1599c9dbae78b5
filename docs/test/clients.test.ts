import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { clientsPage } from '../../apps/foreign/languages/page.ts'
import { root } from './markdown.ts'

test('docs/clients.md is what `pnpm write-clients` makes of the programs that `pnpm foreign` runs', () => {
  expect(readFileSync(join(root, 'docs/clients.md'), 'utf8')).toBe(clientsPage())
})
