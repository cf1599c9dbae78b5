import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { makeStore } from './plants.ts'
import { arrange as arrangePlace, type Ended, ends, runOn } from './program.ts'

/** Colours, a title, a cursor that goes up, marks of direction, and lines of its own. */
const HOSTILE =
  'x\u001b[31m\u001b]0;t\u0007\u009b1A\u0085\u200b\u202e\u2066\u061c\u2028\u2029\r\b\u007f\nforged: y'

const OBEYED = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

function expectHarmless({ out, err }: Omit<Ended, 'code'>): void {
  for (const text of [out, err]) {
    expect(text).not.toMatch(OBEYED)
    expect(text).not.toMatch(/^forged/m)
  }
  // What is looked for was there to be shown.
  expect(out + err).toMatch(/forged:[ _]y/)
}

async function arrange() {
  const folder = (await arrangePlace()).at(HOSTILE)
  mkdirSync(folder)
  const at = (name: string) => join(folder, name)
  await makeStore(at('plants.db'), [{ id: 1n, name: 'Fern' }])
  writeFileSync(at('plants.jsonl'), 'nope\n')
  return { at, path: at('plants.db') }
}

const SERVE_JWTS = ['serve', '--jwt-issuer', 'https://issuer.example', '--jwt-audience', 'plants']

describe('a path shows and is not obeyed, and makes no line of its own, in', () => {
  test.each<[command: string, words: string[], file?: string]>([
    ['export', ['export']],
    ['backup', ['backup'], 'backup.db'],
    ['backup over a file', ['backup'], 'plants.jsonl'],
    ['restore', ['restore'], 'backup.db'],
    ['migrate', ['migrate']],
    ['doctor', ['doctor']],
    ['config', ['config']],
    ['token list', ['token', 'list']],
    ['an audit file', ['token', 'list', '--audit-file'], 'a/b'],
    ['serve', [...SERVE_JWTS, '--log-level', 'silent', '--jwks-file'], 'none'],
  ])('%s', async (_command, words, file) => {
    const { at, path } = await arrange()
    expectHarmless(await runOn(path, file === undefined ? words : [...words, at(file)]))
  })
})

test('a bar is drawn on a terminal, and a path beside it is not obeyed', async () => {
  const { at, path } = await arrange()
  const { out, err } = await runOn(path, ['backup', at('backup.db')], { isInteractive: true })
  expect(err).toContain('\r\u001b[K')
  expectHarmless({ out, err: err.replaceAll('\r\u001b[K', '') })
})

test.each(['doctor', 'export', 'migrate'])(
  'a name in the schema of a foreign file is not obeyed by %s',
  async (command) => {
    const { path, run } = await arrangePlace(0)
    const other = new DatabaseSync(path, { defensive: false })
    other.exec(`CREATE INDEX "${HOSTILE}" ON plants (name); PRAGMA writable_schema = ON`)
    other.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run('CREATE x', HOSTILE)
    other.close()
    expectHarmless(await run(command))
  },
)

test('a token that is given where an id belongs is not shown again', async () => {
  const { run } = await arrangePlace(0)
  const { text } = createOpaqueToken()
  for (const words of [`revoke ${text}`, `rotate ${text}`, `create --name ${text}!`, text]) {
    const ended = await run(`token ${words}`)
    expect(ended).toEqual(ends(78, 'credential'))
    expect(ended.err).not.toContain(text.slice(19, 40))
  }
})
