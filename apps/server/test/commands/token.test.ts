import { describe, expect, test } from 'vitest'
import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { arrange as arrangePlace, ends } from './program.ts'

async function arrange() {
  const { path, run } = await arrangePlace(0)
  return {
    token: (line: string) => run(`token ${line}`),
    async isAccepted(text: string) {
      const store = await openSqliteStore({ path })
      const token = await createAuthenticate(store.tokens)(text.trim(), {})
      await store.close()
      return token !== undefined
    },
  }
}

/** The same with one token, and its id. */
async function arrangeOne() {
  const place = await arrange()
  const made = await place.token('create --name greenhouse')
  return { ...place, made, id: made.out.split('_')[1] ?? '' }
}

describe('token create', () => {
  test('puts the token alone on standard output, and it works', async () => {
    const { made, isAccepted } = await arrangeOne()
    const says =
      /^SQLite .*plants\.db.*\n\{.*\}\nToken [0-9a-f]{12} \(greenhouse\), expires: 20\d\d-.*shown this once/
    expect(made).toEqual(ends(0, says, expect.stringMatching(/^plant_\S+\n$/)))
    expect(made.err).not.toContain(made.out.trim())
    expect(await isAccepted(made.out)).toBe(true)
  })

  test('takes 90 days, a time that is given, or never', async () => {
    const { token } = await arrange()
    await token('create --name default')
    await token('create --name short --expires 12h')
    await token('create --name forever --expires never')
    const { out } = await token('list')
    const hoursLeft = (name: string) => {
      const [, created = '', expires = ''] =
        new RegExp(`${name} .*?(20\\S+Z) {2}(\\S+)`).exec(out) ?? []
      return (Date.parse(expires) - Date.parse(created)) / 3_600_000
    }
    expect([hoursLeft('default'), hoursLeft('short')]).toEqual([90 * 24, 12])
    expect(out).toMatch(/forever .*Z +never +never$/m)
  })
})

test('token list shows every token and no secret', async () => {
  const { token, made, id } = await arrangeOne()
  const { out } = await token('list')
  expect(out).toMatch(/^ID +NAME +STATE +CREATED +EXPIRES +LAST USED\n/)
  expect(out).toMatch(new RegExp(`^${id} +greenhouse +in use .* never\n`, 'm'))
  expect(out).not.toContain(made.out.trim().slice(20))
})

test('token revoke ends a token, which cannot be rotated any more', async () => {
  const { token, made, id, isAccepted } = await arrangeOne()
  expect(await token(`revoke ${id}`)).toMatchObject({ code: 0 })
  expect(await isAccepted(made.out)).toBe(false)
  expect((await token('list')).out).toContain('revoked 20')
  expect((await token(`revoke ${id}`)).err).toContain('was revoked before')
  const says = 'Try: plant-store-server token create --name greenhouse'
  expect(await token(`rotate ${id}`)).toEqual(ends(78, says))
})

test('token rotate makes a successor while the old token goes on', async () => {
  const { token, made, id, isAccepted } = await arrangeOne()
  const successor = await token(`rotate ${id}`)
  expect(successor).toEqual(ends(0, new RegExp(`Token ${id} works until 20`)))
  expect(await isAccepted(made.out)).toBe(true)
  expect(await isAccepted(successor.out)).toBe(true)
  expect((await token('list')).out.match(/greenhouse/g)).toHaveLength(2)
})
