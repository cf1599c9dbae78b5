import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { settings } from '@plant-store/server/config/settings.js'
import { describe, expect, test } from 'vitest'
import { writeContext } from '../../release/image.ts'
import { needs } from '../../test/needs.ts'
import { post } from '../../test/server-process.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { runInShell } from './fresh-copy.ts'
import { blockWith, read, root } from './markdown.ts'

const UNIT = read('operations/plant-store.service')
const BACKUP_UNIT = read('operations/plant-store-backup.service')
const CONTAINERFILE = read('operations/Containerfile')
const DOCUMENTED = blockWith('docs/operate.md', '--permission').text
const DEFAULT_DATABASE = settings.databaseUrl.initial.replace('sqlite:./', '')

test('the unit and the container leave it to the operator how the database is named', () => {
  const lines = `${UNIT}\n${CONTAINERFILE}`.split('\n').filter((line) => !line.startsWith('#'))
  expect(lines.join('\n')).not.toMatch(/DATABASE_URL|--database-url/)
  const folder = /^WorkingDirectory=(.*)$/m.exec(UNIT)?.[1]
  expect(CONTAINERFILE.match(/^WORKDIR .*$/gm)?.at(-1)).toBe(`WORKDIR ${folder}`)
  expect(DOCUMENTED).toContain(`sqlite:${folder}/${DEFAULT_DATABASE}`)
})

describe('the container file', () => {
  test('names its base by a whole version and its digest, and a user who is a number other than 0', () => {
    const bases = [...CONTAINERFILE.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    expect(new Set(bases).size).toBe(1)
    expect(bases[0]).toMatch(/:\d+\.\d+\.\d+-[\w-]+@sha256:[\da-f]{64}$/)
    expect(CONTAINERFILE.match(/^USER .*$/gm)).toEqual(['USER 10001:10001'])
    expect(CONTAINERFILE).toMatch(/^HEALTHCHECK /m)
  })

  test('makes of the program that a release builds one that serves under its entry point', {
    timeout: 60_000,
  }, async () => {
    const context = temporaryFolder()
    await writeContext(context, '1.2.3')
    const copied = [...CONTAINERFILE.matchAll(/^COPY --chmod=0755 (\S+) (\S+)$/gm)]
    expect(copied.map(([, from, to]) => [from, to])).toEqual([['program', '/opt/plant-store/dist']])
    expect(readdirSync(context).toSorted()).toEqual(['Containerfile', 'program'])
    const data = join(context, 'data')
    // As the container file does, because Node 26 could not make it under the permission model.
    mkdirSync(join(data, 'data'), { recursive: true })
    const place = (text: string) =>
      text
        .replaceAll('/opt/plant-store/dist', join(context, 'program'))
        .replaceAll('/opt/plant-store', context)
        .replaceAll('/var/lib/plant-store', data)
    const [, ...flags] = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(CONTAINERFILE)?.[1] ?? '[]')
    const node = [process.execPath, ...flags].map(place).join(' ')
    const netFlag = process.allowedNodeEnvironmentFlags.has('--allow-net') ? '--allow-net' : ''
    const run = (args: string, environment: Record<string, string> = {}) =>
      runInShell(data, `${node.replace('--permission', `--permission ${netFlag}`)} ${args}`, {
        NODE_ENV: 'production',
        ...environment,
      })
    expect(await run('serve').ended).toContain('there is no plant store in')
    await run('migrate').ended
    const [token = ''] = /^plant_\S+$/m.exec(await run('token create --name test').ended) ?? []
    const server = run('serve')
    const [, address = ''] = await server.print(/listens on (\S+)/)
    const reply = await post({ url: address, token })
    expect([reply.status, await reply.json()]).toEqual([200, { name: 'Fern' }])
    await server.kill()
    expect(existsSync(join(data, DEFAULT_DATABASE))).toBe(true)

    const secret = join(context, 'database-url')
    writeFileSync(secret, `sqlite:${data}/of-the-secret.db\n`)
    const shown = await run('config', {
      PLANT_STORE_DATABASE_URL_FILE: secret,
      NODE_OPTIONS: `--allow-fs-read=${secret}`,
    }).ended
    expect(shown).toContain('of-the-secret.db  # PLANT_STORE_DATABASE_URL_FILE')
  })
})

const needsSystemd = needs(
  'systemd-analyze',
  spawnSync('systemd-analyze', ['--version']).status === 0,
)

describe('the systemd unit', needsSystemd, () => {
  /** The unit, with a program that this machine has. */
  function writeUnit(text = UNIT, name = 'plant-store.service'): string {
    const path = join(temporaryFolder(), name)
    writeFileSync(path, text.replace('/opt/plant-store/lib/node/node', process.execPath))
    return path
  }

  function analyze(...args: string[]) {
    const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    return { status, text: stdout + stderr }
  }

  test('is one that systemd understands to the last line', () => {
    expect(analyze('verify', writeUnit())).toEqual({ status: 0, text: '' })
    const typo = writeUnit(UNIT.replace('ProtectSystem=', 'ProtectSytem='))
    expect(analyze('verify', typo).text).toContain('ProtectSytem')
  })

  test('of the backup and its timer are understood too, and protected as well', () => {
    const timer = read('operations/plant-store-backup.timer')
    const path = writeUnit(timer, 'plant-store-backup.timer')
    const service = join(dirname(path), 'plant-store-backup.service')
    writeFileSync(service, BACKUP_UNIT.replace('/opt/plant-store/lib/node/node', process.execPath))
    expect(analyze('verify', path, service)).toEqual({ status: 0, text: '' })
    const { status, text } = analyze('security', '--offline=yes', '--threshold=13', service)
    expect(status, text).toBe(0)
    expect(timer).toMatch(/^Persistent=true$/m)
    const settings = (unit: string) =>
      unit.match(/^(?:User|UMask|WorkingDirectory|EnvironmentFile|Protect\w+)=.*$/gm)
    expect(settings(BACKUP_UNIT)).toEqual(settings(UNIT))
  })

  test('of the backup makes one beside a server that runs, under its own flags, and a good one', {
    timeout: 60_000,
  }, async () => {
    const data = temporaryFolder()
    const program = join(root, 'apps/server')
    const [, command = ''] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(BACKUP_UNIT) ?? []
    const placed = command
      .replaceAll('$$', '$')
      .replaceAll('%%', '%')
      .replaceAll('/opt/plant-store/lib/node/node', process.execPath)
      .replaceAll('/opt/plant-store/lib/server', `${program}/dist`)
      .replaceAll('--allow-fs-read=/opt/plant-store/', `--allow-fs-read=${root}/`)
      .replaceAll('/var/lib/plant-store', data)
    const main = `${process.execPath} ${program}/dist/main.js`
    await runInShell(data, `mkdir data; ${main} token create --name test`).ended
    const anywhere = '--listen 127.0.0.1:0 --operations-listen 127.0.0.1:0'
    const server = runInShell(data, `${main} serve ${anywhere}`)
    await server.print(/listens on (\S+)/)
    const printed = await runInShell(data, `mkdir backups; ${placed}`).ended
    await server.kill()
    const [name] = readdirSync(join(data, 'backups'))
    expect(name, printed).toMatch(/^plants-\d{4}-\d\d-\d\d-\d{6}\.db$/)
    const list = `${main} token list --database-url sqlite:backups/${name}`
    expect(await runInShell(data, list).ended).toMatch(/ test +in use/)
  })

  test('starts again however often it ends, seconds later, but not over a wrong setting', () => {
    expect(UNIT.split('[Service]')[0]).toMatch(/^StartLimitIntervalSec=0$/m)
    expect(UNIT).toMatch(/^RestartSec=5s$/m)
    expect(UNIT).toMatch(/^RestartPreventExitStatus=78$/m)
  })

  test('leaves little of the machine within reach, by its own measure', () => {
    // In tenths: 0 is nothing, 96 a service without any protection.
    const { status, text } = analyze('security', '--offline=yes', '--threshold=15', writeUnit())
    expect(status, text).toBe(0)
    const open = writeUnit(UNIT.replace(/^(?:Protect|Private|Restrict|SystemCall).*$/gm, ''))
    expect(analyze('security', '--offline=yes', '--threshold=15', open).status).not.toBe(0)
  })
})

describe('continuous integration', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: root }).map(read).join('\n')

  test('runs what others made by its digest alone', () => {
    const used = [...workflows.matchAll(/uses: (?!\.\/)(.*)/g)].map(([, action]) => action)
    expect(used).not.toEqual([])
    for (const action of used) expect(action).toMatch(/^[\w/-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    expect(workflows).toMatch(/image: \S+@sha256:[\da-f]{64}$/m)
  })

  test('installs nothing but what a lockfile names', () => {
    const installs = `${workflows}\n${read('.ci/run')}`.match(/pnpm@.*\binstall\b.*/g)
    expect(installs?.length).toBeGreaterThan(4)
    for (const install of installs ?? []) expect(install).toContain('install --frozen-lockfile')
  })

  test('gives each job a time limit', () => {
    const jobs = workflows.match(/^ {4}runs-on: /gm)
    expect(workflows.match(/^ {4}timeout-minutes: \d+$/gm)).toHaveLength(jobs?.length ?? 0)
  })

  test('updates the dependencies of each lockfile', () => {
    const files = execFileSync('git', ['ls-files', '**pnpm-lock.yaml'], {
      cwd: root,
      encoding: 'utf8',
    })
    const folders = files
      .trim()
      .split('\n')
      .map((file) => `/${dirname(file).replace(/^\.$/, '')}`)
    const updated = read('.github/dependabot.yml').matchAll(/^ {6}- (\/.*)$/gm)
    expect([...updated].map(([, folder]) => folder).toSorted()).toEqual(folders.toSorted())
  })
})
