import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { document, needsTools, runTool } from './tools.ts'

/** What `pnpm contract-changes` prints for a document in which a text is replaced, as `level rule`. */
async function compare(from: string, to: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-oasdiff-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const text = readFileSync(document, 'utf8')
  expect(text).toContain(from)
  const changed = join(folder, 'openapi.json')
  writeFileSync(changed, text.replace(from, to))
  const args = ['changelog', document, changed, '--format', 'singleline']
  const { code, out } = await runTool('oasdiff', args)
  expect(code).toBe(0)
  return Array.from(
    out.matchAll(/^(\w+) .*\[([a-z-]+)\]\./gm),
    ([, level, rule]) => `${level} ${rule}`,
  )
}

test.each<[change: string, from: string, to: string, reported: string]>([
  ['another path', '"/plants"', '"/plant"', 'error api-path-removed-without-deprecation'],
  ['another method', '"post"', '"put"', 'error api-removed-without-deprecation'],
  ['another status', '"200"', '"201"', 'error response-success-status-removed'],
  ['a dropped status', '"429": {', '"4XX": {', 'info response-non-success-status-removed'],
  ['a renamed header', '"X-Request-Id"', '"X-Id"', 'error required-response-header-removed'],
  ['a renamed field', '"name": {', '"title": {', 'error response-required-property-removed'],
  ['one more field', '"tag": {', '"height": {}, "tag": {', 'info new-optional-request-property'],
  [
    'a field that became required',
    '"name"\n',
    '"name", "tag"\n',
    'error request-property-became-required',
  ],
  [
    'a narrower bound',
    '"format": "int64"',
    '"format": "int64", "minimum": 0',
    'warning request-property-min-set',
  ],
  ['another pattern', 'x00]*$', 'x00]+$', 'warning request-property-pattern-changed'],
])('oasdiff reports %s', needsTools, async (_change, from, to, reported) => {
  expect(await compare(from, to)).toContain(reported)
})

/** Why oasdiff is a second opinion: the diff of the committed document is the first. */
test.each<[change: string, from: string, to: string]>([
  ['a bound that stands in words', '9223372036854775807', '9223372036854775806'],
  ['another number of an error', '"error": 40003', '"error": 40004'],
  ['another scheme of the credential', '"scheme": "bearer"', '"scheme": "basic"'],
])('oasdiff does not see %s', needsTools, async (_change, from, to) => {
  expect(await compare(from, to)).toEqual([])
})
