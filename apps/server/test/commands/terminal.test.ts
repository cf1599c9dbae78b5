import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createOpaqueToken } from '../../src/auth/tokens.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore } from './plants.ts'
import { type Ended, runOn, runProgram } from './program.ts'

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
  expect(out + err).toContain('forged: y')
}

async function arrange() {
  const folder = join(temporaryFolder(), HOSTILE)
  mkdirSync(folder)
  const path = join(folder, 'plants.db')
  await makeStore(path, [{ id: 1n, name: 'Fern' }])
  const file = join(folder, 'plants.jsonl')
  writeFileSync(file, 'nope\n')
  return { folder, path, file, backup: join(folder, 'backup.db') }
}

type Place = Awaited<ReturnType<typeof arrange>>

const SERVE_JWTS = ['serve', '--jwt-issuer', 'https://issuer.example', '--jwt-audience', 'plants']

describe('a path shows and is not obeyed, and makes no line of its own, in', () => {
  test.each<[command: string, argumentsIn: (place: Place) => string[]]>([
    ['export', () => ['export']],
    ['backup', ({ backup }) => ['backup', backup]],
    ['backup over a file', ({ file }) => ['backup', file]],
    ['restore', ({ backup }) => ['restore', backup]],
    ['migrate', () => ['migrate']],
    ['doctor', () => ['doctor']],
    ['config', () => ['config']],
    ['token list', () => ['token', 'list']],
    ['an audit file', ({ folder }) => ['token', 'list', '--audit-file', join(folder, 'a/b')]],
    ['serve', ({ folder }) => [...SERVE_JWTS, '--jwks-file', join(folder, 'none')]],
  ])('%s', async (_command, argumentsIn) => {
    const place = await arrange()
    expectHarmless(await runOn(place.path, argumentsIn(place)))
  })
})

test('a bar is drawn on a terminal, and a path beside it is not obeyed', async () => {
  const { path, backup } = await arrange()
  const { out, err } = await runOn(path, ['backup', backup], { isInteractive: true })
  expect(err).toContain('\r\u001b[K')
  expectHarmless({ out, err: err.replaceAll('\r\u001b[K', '') })
})

describe('a name in the schema of a foreign file is not obeyed by', () => {
  test.each(['doctor', 'export', 'migrate'])('%s', async (command) => {
    const path = join(temporaryFolder(), 'plants.db')
    await makeStore(path, [])
    const other = new DatabaseSync(path, { defensive: false })
    other.exec(`CREATE INDEX "${HOSTILE}" ON plants (name); PRAGMA writable_schema = ON`)
    other.prepare('UPDATE sqlite_schema SET sql = ? WHERE name = ?').run('CREATE x', HOSTILE)
    other.close()
    expectHarmless(await runOn(path, command))
  })
})

test('a suggestion for a wrong command stands in a line of its own', async () => {
  const { err } = await runProgram(['token', 'creat'])
  expect(err).toContain("error: unknown command 'creat'\n  (Did you mean create?)\n")
})

test('a token that is given where an id belongs is not shown again', async () => {
  const path = join(temporaryFolder(), 'plants.db')
  const { text } = createOpaqueToken()
  for (const words of [`revoke ${text}`, `rotate ${text}`, `create --name ${text}!`, text]) {
    const { code, err } = await runOn(path, `token ${words}`)
    expect(code).toBe(78)
    expect(err).not.toContain(text.slice(19, 40))
    expect(err).toContain('credential')
  }
})
