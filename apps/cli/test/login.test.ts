import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openScreen, runProgram } from './helpers/program.ts'
import { startRawServer } from './helpers/raw-server.ts'
import { startServer } from './helpers/server.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

/** A token of the right shape that no server knows. */
const WRONG = `plant_0123456789ab_${'x'.repeat(43)}00000000`

/** A home of its own, and where the file of logins is in it. */
function makeHome(): { readonly env: Record<string, string>; readonly file: string } {
  const home = makeTemporaryFolder()
  return { env: { HOME: home }, file: join(home, '.config/plant-store/logins.json') }
}

/** Whether a plant can be stored, by the login alone. */
const CREATE = ['create', '1', 'Fern']

describe('login', () => {
  test('asks for the token without showing it, checks it, and saves it for its owner alone', async () => {
    const server = await startServer()
    const { env, file } = makeHome()
    const screen = openScreen(['login', server.url], { env })
    await screen.waitFor('Token (it is not shown): ')
    screen.type(`${server.token}\r`)
    expect(await screen.ended).toBe(0)
    expect(screen.written()).not.toContain(server.token.slice(19))
    const id = server.token.split('_')[1]
    expect(screen.lines()).toEqual([
      'Token (it is not shown): ',
      `${server.url} takes the token plant_${id}_….`,
      `Saved in ${file}`,
    ])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
      { baseUrl: server.url, token: server.token },
    ])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    expect(server.readPlants().size).toBe(0)
  })

  test('takes the token from a pipe, once for each plant store, and the last one is used', async () => {
    const [one, other] = [await startServer(), await startServer()]
    const { env, file } = makeHome()
    for (const server of [one, other, one, other]) {
      const args = ['login', `${server.url}/`]
      expect(await runProgram(args, { env, input: `${server.token}\n` })).toMatchObject({
        code: 0,
        stdout: '',
      })
    }
    expect(readdirSync(join(file, '..'))).toEqual(['logins.json'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(2)
    expect(await runProgram(CREATE, { env })).toMatchObject({ code: 0 })
    expect([one.readPlants().size, other.readPlants().size]).toEqual([0, 1])
    const byUrl = await runProgram([...CREATE, '--base-url', one.url], { env })
    expect(byUrl).toMatchObject({ code: 0 })
    expect(one.readPlants().size).toBe(1)
  })

  test('saves nothing where the server refuses the token, where there is none, and where no server is', async () => {
    const server = await startServer()
    const { env, file } = makeHome()
    const refused = await runProgram(['login', server.url], { env, input: WRONG })
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toContain('nothing is saved')
    expect(refused.stderr).toContain('Try: plant-store login URL')
    expect(refused.stderr).not.toContain('xxxx')
    expect(await runProgram(['login', server.url], { env })).toMatchObject({ code: 2 })
    await server.stop()
    const lost = await runProgram(['login', server.url], { env, input: server.token })
    expect(lost).toMatchObject({ code: 5, stdout: '' })
    expect(existsSync(file)).toBe(false)
  })

  test('ends by Ctrl-C and by Ctrl-D at its question with nothing saved', async () => {
    const { env, file } = makeHome()
    for (const key of ['\x03', '\x04']) {
      const screen = openScreen(['login', 'http://127.0.0.1:1'], { env })
      await screen.waitFor('Token (it is not shown): ')
      screen.type(key)
      expect(await screen.ended).toBe(130)
      expect(screen.lines().at(-1)).toBe('plant-store: interrupted; nothing was done')
    }
    expect(existsSync(file)).toBe(false)
  })

  test.each([
    ['a second word', (token: string) => ['login', 'http://127.0.0.1:1', token]],
    ['the URL', (token: string) => ['login', token]],
    ['a flag', (token: string) => ['login', 'http://127.0.0.1:1', `--token=${token}`]],
    ['a flag and a word', (token: string) => ['login', '--token', token, 'http://127.0.0.1:1']],
    ['a part of the URL', (token: string) => ['login', `http://user:${token}@127.0.0.1:1`]],
    ['a word of another command', (token: string) => ['create', '5', token]],
  ])('refuses a token as %s, and shows nothing of it', async (_, argsWith) => {
    for (const token of [WRONG, 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.secret-part']) {
      const { code, stdout, stderr } = await runProgram(argsWith(token), makeHome())
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('a token does not belong on the command line')
      expect(stderr).not.toMatch(/xxxx|secret-part/)
    }
  })

  test('refuses what is no URL before it asks for a token, and shows nothing of it', async () => {
    const screen = openScreen(['login', 'my-own-secret'], makeHome())
    expect(await screen.ended).toBe(2)
    expect(screen.text()).toContain('the URL must be an http or https URL')
    expect(screen.text()).not.toContain('my-own-secret')
  })

  test('replaces a file that holds no logins, and reports one that cannot be written', async () => {
    const server = await startServer()
    const { env, file } = makeHome()
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, '{"baseUrl": "http')
    const broken = await runProgram(CREATE, { env })
    expect(broken).toMatchObject({ code: 2, stdout: '' })
    expect(broken.stderr).toContain('holds no logins\n  Try: plant-store login URL, which')
    const args = ['login', server.url]
    expect(await runProgram(args, { env, input: server.token })).toMatchObject({ code: 0 })
    expect(await runProgram(CREATE, { env })).toMatchObject({ code: 0 })
    const blocked = makeTemporaryFolder()
    writeFileSync(join(blocked, '.config'), '')
    const failed = await runProgram(args, { env: { HOME: blocked }, input: server.token })
    expect(failed).toMatchObject({ code: 1 })
    expect(failed.stderr).toContain('cannot be written: ENOTDIR\n  Try: another XDG_CONFIG_HOME')
  })

  test('leaves a whole file where many log in at once, and no drafts', async () => {
    const server = await startServer()
    const { env, file } = makeHome()
    const logins = Array.from({ length: 8 }, () =>
      runProgram(['login', server.url], { env, input: server.token }),
    )
    expect((await Promise.all(logins)).map(({ code }) => code)).toEqual(Array(8).fill(0))
    expect(readdirSync(join(file, '..'))).toEqual(['logins.json'])
    expect(await runProgram(CREATE, { env })).toMatchObject({ code: 0 })
  })

  test('warns where the token travels as plain text, and where the environment counts more', async () => {
    const { env } = makeHome()
    const plain = await runProgram(['login', 'http://plants.invalid'], { env, input: WRONG })
    expect(plain.stderr).toContain('Everybody on the way can read the token')
    const server = await startServer()
    const both = await runProgram(['login', server.url], {
      env: { ...env, PLANT_STORE_TOKEN: WRONG },
      input: server.token,
    })
    expect(both.code).toBe(0)
    expect(both.stderr).toContain('PLANT_STORE_TOKEN is set')
  })
})

describe('a login', () => {
  test('is taken from the others who could read it', async () => {
    const server = await startServer()
    const { env, file } = makeHome()
    await runProgram(['login', server.url], { env, input: server.token })
    chmodSync(file, 0o644)
    const { code, stderr } = await runProgram(CREATE, { env })
    expect(code).toBe(0)
    expect(stderr).toContain(`Others could read ${file}`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await runProgram(CREATE, { env })).stderr).toBe('')
  })

  test('never sends its token to a URL of the environment or a flag', async () => {
    const server = await startServer()
    const thief = await startRawServer(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    const { env } = makeHome()
    await runProgram(['login', server.url], { env, input: server.token })
    const byFlag = await runProgram([...CREATE, '--base-url', thief.url], { env })
    const byEnvironment = await runProgram(CREATE, {
      env: { ...env, PLANT_STORE_BASE_URL: thief.url },
    })
    for (const { code, stderr } of [byFlag, byEnvironment]) {
      expect(code).toBe(4)
      expect(stderr).toContain(
        `there is no token for ${thief.url}; your logins are for ${server.url}\n  Try: plant-store login`,
      )
    }
    const own = { ...env, PLANT_STORE_TOKEN: WRONG, PLANT_STORE_BASE_URL: server.url }
    const away = await runProgram([...CREATE, '--base-url', thief.url], { env: own })
    expect(away).toMatchObject({ code: 4 })
    expect(thief.received()).toBe('')
    expect(server.readPlants().size).toBe(0)
    const same = [...CREATE, '--base-url', `${server.url}/`]
    expect(await runProgram(same, { env })).toMatchObject({ code: 0 })
  })

  test('gives no URL to a token of the environment', async () => {
    const server = await startServer()
    const { env } = makeHome()
    await runProgram(['login', server.url], { env, input: server.token })
    const alone = await runProgram(CREATE, { env: { ...env, PLANT_STORE_TOKEN: WRONG } })
    expect(alone).toMatchObject({ code: 4, stdout: '' })
    expect(alone.stderr).toContain('Try: set PLANT_STORE_BASE_URL, too')
    const named = { ...env, PLANT_STORE_TOKEN: server.token, PLANT_STORE_BASE_URL: server.url }
    expect(await runProgram(CREATE, { env: named })).toMatchObject({ code: 0 })
  })

  test('that is lacking is named with the way in', async () => {
    const out = await runProgram(CREATE, { env: makeHome().env })
    expect(out).toMatchObject({ code: 4, stdout: '' })
    expect(out.stderr).toContain('you are not logged in\n  Try: plant-store login URL')
  })
})
