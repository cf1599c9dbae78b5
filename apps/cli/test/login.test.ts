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
const QUESTION = 'Token (it is not shown): '
/** Where nobody listens. */
const NOWHERE = 'http://127.0.0.1:1'
/** Whether a plant can be stored, by the login alone. */
const CREATE = ['create', '1', 'Fern']

/** A home of its own, what runs in it, and where the file of logins is. */
function makeHome() {
  const home = makeTemporaryFolder()
  const folder = join(home, '.config/plant-store')
  const env = { HOME: home }
  return {
    env,
    folder,
    file: join(folder, 'logins.json'),
    run: (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      runProgram(args, { env: { ...env, ...more } }),
    login: (url: string, input = '') => runProgram(['login', url], { env, input }),
    screen: (url: string) => openScreen(['login', url], { env }),
  }
}

describe('login', () => {
  test('asks for the token without showing it, checks it, and saves it for its owner alone', async () => {
    const { url, token, readPlants } = await startServer()
    const { file, folder, screen: open } = makeHome()
    const screen = open(url)
    await screen.waitFor(/^Token /)
    screen.type(`${token}\r`)
    expect(await screen.ended).toBe(0)
    expect(screen.written()).not.toContain(token.slice(19))
    const takes = `${url} takes the token plant_${token.split('_')[1]}_….`
    expect(screen.lines()).toEqual([QUESTION, takes, `Saved in ${file}`])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([{ baseUrl: url, token }])
    expect([file, folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
    expect(readPlants().size).toBe(0)
  })

  test('takes the token from a pipe, once for each plant store, and the last one is used', async () => {
    const [one, other] = [await startServer(), await startServer()]
    const { folder, file, login, run } = makeHome()
    for (const { url, token } of [one, other, one, other]) {
      expect(await login(`${url}/`, `${token}\n`)).toMatchObject({ code: 0, stdout: '' })
    }
    expect(readdirSync(folder)).toEqual(['logins.json'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(2)
    expect(await run(CREATE)).toMatchObject({ code: 0 })
    expect([one.readPlants().size, other.readPlants().size]).toEqual([0, 1])
    expect(await run([...CREATE, '--base-url', one.url])).toMatchObject({ code: 0 })
    expect(one.readPlants().size).toBe(1)
  })

  test('saves nothing where the server refuses the token, where there is none, and where no server is', async () => {
    const { url, token } = await startServer()
    const { file, login } = makeHome()
    const refused = await login(url, WRONG)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(/nothing is saved.*\n {2}Try: plant-store login URL/)
    expect(refused.stderr).not.toContain('xxxx')
    expect(await login(url)).toMatchObject({ code: 2 })
    expect(await login(NOWHERE, token)).toMatchObject({ code: 5, stdout: '' })
    expect(existsSync(file)).toBe(false)
  })

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('ends by %s at its question with nothing saved', async (_key, typed) => {
    const { file, screen: open } = makeHome()
    const screen = open(NOWHERE)
    await screen.waitFor(/^Token /)
    screen.type(typed)
    expect(await screen.ended).toBe(130)
    expect(screen.lines().at(-1)).toBe('plant-store: interrupted; nothing was done')
    expect(existsSync(file)).toBe(false)
  })

  test.each([
    ['a second word', (token: string) => ['login', NOWHERE, token]],
    ['the URL', (token: string) => ['login', token]],
    ['a flag', (token: string) => ['login', NOWHERE, `--token=${token}`]],
    ['a flag and a word', (token: string) => ['login', '--token', token, NOWHERE]],
    ['a part of the URL', (token: string) => ['login', `http://user:${token}@127.0.0.1:1`]],
    ['a word of another command', (token: string) => ['create', '5', token]],
  ])('refuses a token as %s, and shows nothing of it', async (_, argsWith) => {
    for (const token of [WRONG, 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.secret-part']) {
      const { code, stdout, stderr } = await makeHome().run(argsWith(token))
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('a token does not belong on the command line')
      expect(stderr).not.toMatch(/xxxx|secret-part/)
    }
  })

  test('refuses what is no URL before it asks for a token, and shows nothing of it', async () => {
    const screen = makeHome().screen('my-own-secret')
    expect(await screen.ended).toBe(2)
    expect(screen.text()).toContain('the URL must be an http or https URL')
    expect(screen.text()).not.toContain('my-own-secret')
  })

  test('replaces a file that holds no logins, and reports one that cannot be written', async () => {
    const { url, token } = await startServer()
    const { folder, file, login, run } = makeHome()
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, '{"baseUrl": "http')
    const broken = await run(CREATE)
    expect(broken).toMatchObject({ code: 2, stdout: '' })
    expect(broken.stderr).toContain('holds no logins\n  Try: plant-store login URL, which')
    expect(await login(url, token)).toMatchObject({ code: 0 })
    expect(await run(CREATE)).toMatchObject({ code: 0 })
    const blocked = makeHome()
    writeFileSync(join(blocked.env.HOME, '.config'), '')
    const failed = await blocked.login(url, token)
    expect(failed).toMatchObject({ code: 1 })
    expect(failed.stderr).toContain('cannot be written: ENOTDIR\n  Try: another XDG_CONFIG_HOME')
  })

  test('leaves a whole file where many log in at once, and no drafts', async () => {
    const { url, token } = await startServer()
    const { folder, login, run } = makeHome()
    const all = await Promise.all(Array.from({ length: 8 }, () => login(url, token)))
    expect(all.map(({ code }) => code)).toEqual(Array(8).fill(0))
    expect(readdirSync(folder)).toEqual(['logins.json'])
    expect(await run(CREATE)).toMatchObject({ code: 0 })
  })

  test('warns where the token travels as plain text, and where the environment counts more', async () => {
    const { env, login } = makeHome()
    const { stderr } = await login('http://plants.invalid', WRONG)
    expect(stderr).toContain('Everybody on the way can read the token')
    const { url, token: input } = await startServer()
    const both = { env: { ...env, PLANT_STORE_TOKEN: WRONG }, input }
    const said = expect.stringContaining('PLANT_STORE_TOKEN is set')
    expect(await runProgram(['login', url], both)).toMatchObject({ code: 0, stderr: said })
  })
})

describe('a login', () => {
  test('is taken from the others who could read it', async () => {
    const { url, token } = await startServer()
    const { file, login, run } = makeHome()
    await login(url, token)
    chmodSync(file, 0o644)
    const said = expect.stringContaining(`Others could read ${file}`)
    expect(await run(CREATE)).toMatchObject({ code: 0, stderr: said })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await run(CREATE)).stderr).toBe('')
  })

  test('never sends its token to a URL of the environment or a flag', async () => {
    const { url, token, readPlants } = await startServer()
    const thief = await startRawServer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    const { login, run } = makeHome()
    await login(url, token)
    const byFlag = [...CREATE, '--base-url', thief.url]
    const lacking = `there is no token for ${thief.url}; your logins are for ${url}\n  Try: plant-store login`
    for (const { code, stderr } of [
      await run(byFlag),
      await run(CREATE, { PLANT_STORE_BASE_URL: thief.url }),
      await run(byFlag, { PLANT_STORE_TOKEN: WRONG, PLANT_STORE_BASE_URL: url }),
    ]) {
      expect([code, stderr]).toEqual([4, expect.stringContaining(lacking)])
    }
    expect(thief.received()).toBe('')
    expect(readPlants().size).toBe(0)
    expect(await run([...CREATE, '--base-url', `${url}/`])).toMatchObject({ code: 0 })
  })

  test('gives no URL to a token of the environment', async () => {
    const { url, token } = await startServer()
    const { login, run } = makeHome()
    await login(url, token)
    const alone = await run(CREATE, { PLANT_STORE_TOKEN: WRONG })
    expect(alone).toMatchObject({ code: 4, stdout: '' })
    expect(alone.stderr).toContain('Try: set PLANT_STORE_BASE_URL, too')
    const named = { PLANT_STORE_TOKEN: token, PLANT_STORE_BASE_URL: url }
    expect(await run(CREATE, named)).toMatchObject({ code: 0 })
  })

  test('that is lacking is named with the way in', async () => {
    const stderr = expect.stringContaining('you are not logged in\n  Try: plant-store login URL')
    expect(await makeHome().run(CREATE)).toEqual({ code: 4, stdout: '', stderr })
  })
})
