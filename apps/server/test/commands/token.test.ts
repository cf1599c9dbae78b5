import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runOn } from './program.ts'

/** A database and a way to run commands on it as the program would. */
function arrange() {
  const path = join(temporaryFolder(), 'plants.db')
  return {
    run: (...args: string[]) => runOn(path, ['token', ...args]),
    async isAccepted(text: string) {
      const store = await openSqliteStore({ path })
      const token = await createAuthenticate(store.tokens)(text.trim(), {})
      await store.close()
      return token !== undefined
    },
  }
}

function idOf(token: string): string {
  return token.split('_')[1] ?? ''
}

describe('token create', () => {
  test('puts the token alone on standard output, and it works', async () => {
    const { run, isAccepted } = arrange()
    const { code, out, err } = await run('create', '--name', 'greenhouse')
    expect(code).toBe(0)
    expect(out).toMatch(/^plant_\S+\n$/)
    expect(err).toMatch(
      /^SQLite .*plants\.db.*\n\{.*\}\nToken [0-9a-f]{12} \(greenhouse\), expires: 20\d\d-.*shown this once/,
    )
    expect(err).not.toContain(out.trim())
    expect(await isAccepted(out)).toBe(true)
  })

  test('takes 90 days, a time that is given, or never', async () => {
    const { run } = arrange()
    await run('create', '--name', 'default')
    await run('create', '--name', 'short', '--expires', '12h')
    await run('create', '--name', 'forever', '--expires', 'never')
    const lines = (await run('list')).out.split('\n')
    const hoursLeft = (name: string) => {
      const [, created, expires] =
        /(20\S+Z) {2}(\S+)/.exec(lines.find((line) => line.includes(name)) ?? '') ?? []
      return (Date.parse(expires ?? '') - Date.parse(created ?? '')) / 3_600_000
    }
    expect(hoursLeft('default')).toBe(90 * 24)
    expect(hoursLeft('short')).toBe(12)
    expect(lines.find((line) => line.includes('forever'))).toMatch(/Z +never +never$/)
  })

  test.each([
    [['--name', 'a b'], /Use 1 to 64 letters/],
    [['--name', 'x', '--expires', 'soon'], /Write a number and m, h or d, .*, or never\./],
    [['--name', 'x', '--expires', '0d'], /Write a number and m, h or d/],
    [[], /required option '--name <name>' not specified/],
  ])('refuses %j and says what to write', async (args, message) => {
    const { code, out, err } = await arrange().run('create', ...args)
    expect({ code, out }).toEqual({ code: 78, out: '' })
    expect(err).toMatch(message)
  })
})

describe('token list', () => {
  test('shows every token and no secret', async () => {
    const { run } = arrange()
    const { out: token } = await run('create', '--name', 'greenhouse')
    const { out } = await run('list')
    expect(out).toMatch(/^ID +NAME +STATE +CREATED +EXPIRES +LAST USED\n/)
    expect(out).toMatch(new RegExp(`^${idOf(token)} +greenhouse +in use .* never\n`, 'm'))
    expect(out).not.toContain(token.trim().slice(20))
  })
})

describe('token revoke', () => {
  test('ends a token', async () => {
    const { run, isAccepted } = arrange()
    const { out: token } = await run('create', '--name', 'greenhouse')
    expect(await run('revoke', idOf(token))).toMatchObject({ code: 0 })
    expect(await isAccepted(token)).toBe(false)
    expect((await run('list')).out).toContain('revoked 20')
    expect((await run('revoke', idOf(token))).err).toContain('was revoked before')
  })
})

describe('token rotate', () => {
  test('makes a successor while the old token goes on', async () => {
    const { run, isAccepted } = arrange()
    const { out: old } = await run('create', '--name', 'greenhouse')
    const { code, out: successor, err } = await run('rotate', idOf(old))
    expect(code).toBe(0)
    expect(err).toMatch(new RegExp(`Token ${idOf(old)} works until 20`))
    expect(await isAccepted(old)).toBe(true)
    expect(await isAccepted(successor)).toBe(true)
    expect((await run('list')).out.match(/greenhouse/g)).toHaveLength(2)
  })

  test('refuses a token that has ended', async () => {
    const { run } = arrange()
    const { out: token } = await run('create', '--name', 'greenhouse')
    await run('revoke', idOf(token))
    const { code, err } = await run('rotate', idOf(token))
    expect(code).toBe(78)
    expect(err).toContain('Try: plant-store-server token create --name greenhouse')
  })
})
