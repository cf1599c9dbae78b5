import { execFile, spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readProgramName } from '../../src/commands/program-name.ts'
import { MAIN } from '../process/main.ts'
import { runToEnd, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { runProgram } from './program.ts'

const PACKAGE = join(import.meta.dirname, '../..')
const ROOT = join(PACKAGE, '../..')

/** Runs a line as a person pastes it, in a shell that finds this very Node. */
function paste(line: string, cwd: string) {
  const { NODE_ENV: _, ...environment } = process.env
  const env = {
    ...environment,
    PATH: `${join(process.execPath, '..')}${delimiter}${process.env.PATH}`,
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd, env, encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

describe('a hint', () => {
  test('can be pasted: the token that it makes opens the very store that lacked one', async () => {
    const folder = temporaryFolder()
    const databaseUrl = `sqlite:${folder}/my plants.db`
    const start = { folder, args: ['serve', '--database-url', databaseUrl] }
    const environment = { NODE_ENV: 'production' }
    const { code, err } = await runToEnd({ ...start, environment })
    expect(code).toBe(78)
    const [, line = ''] = /^ {2}(.* token create .*)$/m.exec(err) ?? []
    expect(line).toBe(
      `${process.execPath} ${MAIN} token create --name NAME --database-url '${databaseUrl}'`,
    )
    const made = paste(line, temporaryFolder())
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^plant_\S+\n$/) })
    const server = await startServerProcess({ ...start, environment, token: made.out.trim() })
    expect(await server.client.createPlant({ id: 1, name: 'Fern' })).toEqual({ name: 'Fern' })
  })

  test('has the settings that its command takes, as they were given last', async () => {
    const path = join(temporaryFolder(), 'plants.db')
    const flags = ['--audit-file', 'none', `--database-url=sqlite:${path}`]
    const { err } = await runProgram([
      'token',
      'revoke',
      'ffffffffffff',
      '--audit-file',
      'x',
      ...flags,
    ])
    expect(err).toContain(
      `Try: plant-store-server token list --database-url sqlite:${path} --audit-file none\n`,
    )
  })

  test('names the flag where that named the database', async () => {
    const { err } = await runProgram(['export', '--database-url', 'postgres://127.0.0.1:9/plants'])
    expect(err).toContain('fix its address in --database-url')
  })

  test('has no password, and quotes what a shell would read', async () => {
    const url = "postgres://user:hunter2@127.0.0.1:1/pl'ants"
    const { err } = await runProgram(['backup', 'file', '--database-url', url])
    expect(err).toContain(
      `plant-store-server export --database-url 'postgres://user:***@127.0.0.1:1/pl'\\''ants' > plants.jsonl`,
    )
    expect(err).not.toContain('hunter2')
  })
})

describe('the program is named', () => {
  const inClone = {
    npm_package_name: 'plant-store',
    npm_config_user_agent: 'pnpm/12.16.0 npm/? node/? linux x64',
  }

  test.each([
    [
      'as the script of a clone',
      MAIN,
      { ...inClone, npm_lifecycle_event: 'server' },
      'npx -y pnpm@12.16.0 server',
    ],
    [
      'so by `start`, too',
      MAIN,
      { ...inClone, npm_lifecycle_event: 'start' },
      'npx -y pnpm@12.16.0 server',
    ],
    [
      'by its path below a script of others',
      '/a b/main.js',
      { npm_package_name: 'x', npm_lifecycle_event: 'start' },
      "node '/a b/main.js'",
    ],
    ['by its path', '/opt/plant-store/dist/main.js', {}, 'node /opt/plant-store/dist/main.js'],
    [
      'as installed',
      '/usr/bin/plant-store-server',
      { PATH: '/bin:/usr/bin' },
      'plant-store-server',
    ],
    [
      'by npx',
      '/home/x/.npm/_npx/1f2e/node_modules/.bin/plant-store-server',
      { PATH: '/home/x/.npm/_npx/1f2e/node_modules/.bin:/bin' },
      'npx -y @plant-store/server',
    ],
    [
      'as installed where no shell looks',
      '/x/plant-store-server',
      { PATH: '/bin' },
      '/x/plant-store-server',
    ],
    [
      'as its launcher was called',
      '/opt/p/lib/server/main.js',
      { PATH: '/bin', PLANT_STORE_STARTED_AS: './my plants/plant-store-server' },
      "'./my plants/plant-store-server'",
    ],
    [
      'as its launcher where a shell finds it',
      '/opt/p/lib/server/main.js',
      { PATH: '/bin', PLANT_STORE_STARTED_AS: '/bin/plant-store-server' },
      'plant-store-server',
    ],
    [
      'as its launcher was called on Windows',
      'C:\\p q\\lib\\server\\main.js',
      { PLANT_STORE_STARTED_AS: 'C:\\p q\\plant-store-server' },
      '"C:\\p q\\plant-store-server"',
    ],
    [
      'as its launcher was found on Windows',
      'C:\\p\\lib\\server\\main.js',
      { PLANT_STORE_STARTED_AS: 'plant-store-server' },
      'plant-store-server',
    ],
  ])('%s', (_how, path, env, name) => {
    expect(readProgramName({ argv: ['node', path], argv0: 'node', env })).toBe(name)
  })

  test('in its help as the link on the PATH that was called', () => {
    const folder = temporaryFolder()
    symlinkSync(MAIN, join(folder, 'plant-store-server'))
    const { out } = paste(
      `PATH=${folder}:$PATH; node ${folder}/plant-store-server help token list`,
      folder,
    )
    expect(out).toMatch(/^Usage: plant-store-server token list /)
  })
})

/** It looks whether the build is the newest, beside whatever else the machine does. */
const BUILD_MS = 180_000

describe('in a clone', { timeout: BUILD_MS }, () => {
  /** What npm says of its own configuration comes before pnpm starts. */
  const OF_NPM = /^npm warn .*\n/gm

  function pnpm(...args: string[]) {
    const given = Object.entries(process.env).filter(([name]) => !/^(?:npm_|VITEST)/i.test(name))
    return new Promise<{ code: unknown; out: string; err: string }>((resolve) => {
      const options = { cwd: ROOT, env: Object.fromEntries(given) }
      execFile(
        'npx',
        ['--prefer-offline', '-y', 'pnpm@12.16.0', ...args],
        options,
        (error, out, err) => {
          resolve({ code: error?.code ?? 0, out, err: err.replaceAll(OF_NPM, '') })
        },
      )
    })
  }

  test('a command prints its own result alone, and names itself as it was called', async () => {
    const { code, out, err } = await pnpm('server', 'help', 'token', 'list')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^Usage: npx -y pnpm@12\.16\.0 server token list /)
  })

  test('a command that fails keeps its exit code', async () => {
    const { code, err } = await pnpm('server', 'nonsense')
    expect(code).toBe(78)
    expect(err).toMatch(/^plant-store-server: nothing was started:/)
  })

  test('a build that fails is shown, and nothing is run', () => {
    const build = join(ROOT, '.ci/build-server.ts')
    const turbo = join(ROOT, 'node_modules/.bin')
    const { status, stdout, stderr } = spawnSync(process.execPath, [build], {
      cwd: temporaryFolder(),
      env: { PATH: `${turbo}${delimiter}${process.env.PATH}` },
      encoding: 'utf8',
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(/package\.json/)
  })
})
