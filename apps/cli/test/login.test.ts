import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startRestartableServer as startServer } from '../../../test/restartable-server.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { ends, openScreen, runProgram } from './helpers/program.ts'
import { startRawServer } from './helpers/raw-server.ts'

/** A token of the right shape that no server knows. */
const WRONG = `plant_0123456789ab_${'x'.repeat(43)}00000000`
/** Where nobody listens. */
const NOWHERE = 'http://127.0.0.1:1'
/** Whether a plant can be stored, by the login alone. */
const CREATE = ['create', '1', 'Fern']

/** A home of its own, what runs in it, and where the file of logins is. */
function makeHome() {
  const home = temporaryFolder()
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
    expect(screen.lines()).toEqual(['Token (it is not shown): ', takes, `Saved in ${file}`])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([{ baseUrl: url, token }])
    expect([file, folder].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
    expect(readPlants().size).toBe(0)
  })

  test('takes the token from a pipe, once for each plant store, and the last one is used', async () => {
    const [one, other] = [await startServer(), await startServer()]
    const { folder, file, login, run } = makeHome()
    for (const { url, token } of [one, other, one, other]) {
      expect(await login(`${url}/`, `${token}\n`)).toEqual(ends(0, /^$/))
    }
    expect(readdirSync(folder)).toEqual(['logins.json'])
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveLength(2)
    expect(await run(CREATE)).toEqual(ends(0))
    expect([one.readPlants().size, other.readPlants().size]).toEqual([0, 1])
    expect(await run([...CREATE, '--base-url', one.url])).toEqual(ends(0))
    expect(one.readPlants().size).toBe(1)
  })

  test('takes the token from a named pipe, and gives one that nobody writes to 5 s', async () => {
    const { url, token } = await startServer()
    const { env, run } = makeHome()
    const pipe = join(env.HOME, 'pipe')
    execFileSync('mkfifo', [pipe])
    const [taken] = await Promise.all([
      run(['login', url, '--token-file', pipe]),
      writeFile(pipe, `${token}\n`),
    ])
    expect(taken).toEqual(ends(0))
    const late = ends(2, /^$/, 'pipe is a pipe that did not end within 5 s')
    expect(await run(['login', url, '--token-file', pipe])).toEqual(late)
  })

  test('saves nothing where the token is refused, where there is none, and where no server is', async () => {
    const { url, token } = await startServer()
    const { file, login } = makeHome()
    const refused = await login(url, WRONG)
    expect(refused).toEqual(ends(4, /^$/, /nothing is saved.*\n {2}Try: plant-store login http/))
    expect(refused.stderr).not.toContain('xxxx')
    expect(await login(url)).toEqual(ends(2, /^$/, 'no token was given; nothing is saved'))
    expect(await login(NOWHERE, token)).toEqual(ends(5, /^$/, 'once the server runs'))
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
    ['a second word', 'login http://127.0.0.1:1 TOKEN'],
    ['the URL', 'login TOKEN'],
    ['a flag', 'login http://127.0.0.1:1 --token=TOKEN'],
    ['a flag and a word', 'login --token TOKEN http://127.0.0.1:1'],
    ['a part of the URL', 'login http://user:TOKEN@127.0.0.1:1'],
    ['a word of another command', 'create 5 TOKEN'],
  ])('refuses a token as %s, and shows nothing of it', async (_what, line) => {
    for (const token of [WRONG, 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.secret-part']) {
      const ended = await makeHome().run(line.replace('TOKEN', token).split(' '))
      expect(ended).toEqual(ends(2, /^$/, 'a token does not belong on the command line'))
      expect(ended.stderr).not.toMatch(/xxxx|secret-part/)
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
    const broken = ends(2, /^$/, 'holds no logins\n  Try: plant-store login URL, which')
    expect(await run(CREATE)).toEqual(broken)
    expect(await login(url, token)).toEqual(ends(0))
    expect(await run(CREATE)).toEqual(ends(0))
    const blocked = makeHome()
    writeFileSync(join(blocked.env.HOME, '.config'), '')
    const failed = ends(1, '', 'cannot be written: ENOTDIR\n  Try: another XDG_CONFIG_HOME')
    expect(await blocked.login(url, token)).toEqual(failed)
  })

  test('leaves a whole file where many log in at once, and no drafts', async () => {
    const { url, token } = await startServer()
    const { folder, login, run } = makeHome()
    const all = await Promise.all(Array.from({ length: 8 }, () => login(url, token)))
    expect(all.map(({ code }) => code)).toEqual(Array(8).fill(0))
    expect(readdirSync(folder)).toEqual(['logins.json'])
    expect(await run(CREATE)).toEqual(ends(0))
  })

  test('warns where the token travels as plain text, and where the environment counts more', async () => {
    const { env, login } = makeHome()
    const { stderr } = await login('http://plants.invalid', WRONG)
    expect(stderr).toContain('Everybody on the way can read the token')
    const { url, token: input } = await startServer()
    const both = { env: { ...env, PLANT_STORE_TOKEN: WRONG }, input }
    expect(await runProgram(['login', url], both)).toEqual(ends(0, '', 'PLANT_STORE_TOKEN is set'))
  })
})

describe('a login', () => {
  /** A home with a login for a server. */
  async function logIn() {
    const [server, home] = [await startServer(), makeHome()]
    await home.login(server.url, server.token)
    return { ...server, ...home }
  }

  test('is taken from the others who could read it', async () => {
    const { file, run } = await logIn()
    chmodSync(file, 0o644)
    expect(await run(CREATE)).toEqual(ends(0, '', `Others could read ${file}`))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await run(CREATE)).toEqual(ends(0, '', /^$/))
  })

  test('never sends its token to a URL of the environment or a flag', async () => {
    const { url, run, readPlants } = await logIn()
    const thief = await startRawServer('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
    const byFlag = [...CREATE, '--base-url', thief.url]
    const lacking = `no token for ${thief.url}; your logins are for ${url}\n  Try: plant-store login`
    const refused = ends(4, /^$/, lacking)
    expect(await run(byFlag)).toEqual(refused)
    expect(await run(CREATE, { PLANT_STORE_BASE_URL: thief.url })).toEqual(refused)
    const own = { PLANT_STORE_TOKEN: WRONG, PLANT_STORE_BASE_URL: url }
    expect(await run(byFlag, own)).toEqual(refused)
    expect(thief.received()).toBe('')
    expect(readPlants().size).toBe(0)
    expect(await run([...CREATE, '--base-url', `${url}/`])).toEqual(ends(0))
  })

  test('gives no URL to a token of the environment', async () => {
    const { url, token, run } = await logIn()
    const alone = ends(4, /^$/, 'Try: set PLANT_STORE_BASE_URL, too')
    expect(await run(CREATE, { PLANT_STORE_TOKEN: WRONG })).toEqual(alone)
    const wrong = { PLANT_STORE_TOKEN: WRONG, PLANT_STORE_BASE_URL: url }
    expect(await run(CREATE, wrong)).toEqual(ends(4, '', 'Try: PLANT_STORE_TOKEN with a token'))
    expect(await run(CREATE, { ...wrong, PLANT_STORE_TOKEN: token })).toEqual(ends(0))
  })

  test('that is lacking is named with the way in', async () => {
    const lacking = ends(4, /^$/, 'you are not logged in\n  Try: plant-store login URL')
    expect(await makeHome().run(CREATE)).toEqual(lacking)
  })
})
