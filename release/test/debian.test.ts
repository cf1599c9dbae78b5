import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../packages/client/runtimes/needs.ts'
import { packPackage, stagePackage } from '../debian/debian.ts'
import { parseEnvironmentFile } from '../debian/program/environment-file.ts'
import { packageBackupUnit, packageUnit } from '../debian/unit.ts'
import { readVersion } from '../release.ts'
import { ROOT } from '../root.ts'
import { createFolder } from './build.ts'
import { CAN_START_MACHINE, installDebian, type Machine, startMachine } from './machine.ts'

const EPOCH = 1_790_000_000
/** The folder of what will be published, whose package is then tested. */
const { PLANT_STORE_TEST_RELEASE: shipped } = process.env
const OLD = '0.9.0'
const NEW = shipped === undefined ? '0.9.1' : readVersion()
const LARGEST = '{"id":9223372036854775807,"name":"Fern 🌿"}'

const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0
const here = createFolder()
afterAll(() => rmSync(here, { recursive: true, force: true }))

/** The package but for its compression, which takes minutes as it is released. */
async function makePackage(version: string, folder = here): Promise<string> {
  const root = join(folder, `tree-${version}`)
  const file = join(folder, `plant-store-server_${version}_amd64.deb`)
  mkdirSync(root, { recursive: true })
  const release = { version, commit: '', epoch: EPOCH, platforms: [], out: here, work: here }
  await stagePackage(root, release, 'linux-x64')
  packPackage(root, file, release, 'gzip')
  return file
}

const operations = (name: string) => readFileSync(join(ROOT, 'operations', name), 'utf8')
const placed = (name: string) =>
  operations(name).replaceAll('/opt/plant-store', '/usr/lib/plant-store')

function linesBeyondStart(unit: string): string[] {
  return unit.replace(/^ExecStart=(?:.*\\\n)*.*$/m, '').split('\n')
}

describe('a unit of the package', () => {
  test('has every line of the one in operations, and starts what the package has', () => {
    const unit = packageUnit(operations('plant-store.service'))
    const ours = linesBeyondStart(placed('plant-store.service'))
    const comment = '# Node 25 and later also need --allow-net.'
    expect(linesBeyondStart(unit)).toEqual(ours.filter((line) => line !== comment))
    expect(ours).toContain(comment)
    const [, start = ''] = /^ExecStart=((?:.*\\\n)*.*)$/m.exec(unit) ?? []
    expect(start).toMatch(/^\/usr\/lib\/plant-store\/bin\/node --permission --allow-net /)
    expect(start).toMatch(/\/usr\/bin\/plant-store-server serve$/)
    expect(unit).not.toMatch(/\/opt\/|dist/)
  })

  test('of the backup does too, without the permission model', () => {
    const unit = packageBackupUnit(operations('plant-store-backup.service'))
    expect(linesBeyondStart(unit)).toEqual(linesBeyondStart(placed('plant-store-backup.service')))
    expect(/^ExecStart=.*$/m.exec(unit)?.[0]).toBe(
      'ExecStart=/usr/lib/plant-store/bin/node /usr/bin/plant-store-server' +
        ' backup --folder /var/lib/plant-store/backups --keep 7',
    )
  })
})

/** What is easily read otherwise. */
const SETTINGS = [
  '# a comment\n; another\nPLAIN=value # no comment\n INDENTED = a b  c  \nJOINED=a\'b\'c"d"',
  String.raw`DOUBLE="two  words # $HOME \"quoted\" \\ \n"`,
  String.raw`SINGLE='it is \n # $HOME'`,
  'BOTH="one"\'two\' "three"four\nLONG=first \\\n  second\nESCAPED=\\a\\ \\"b\\ \nEMPTY=',
  'EQUALS=a=b=c\nBROKEN\n1WRONG=x\nWINDOWS=end\r\nQUOTED_LINE="one\ntwo\\\nthree"\nLAST=\'open',
].join('\n')

describe('the package for Debian', needs('dpkg-deb', hasDpkg), () => {
  let old = ''
  let next = ''
  beforeAll(async () => {
    old = await makePackage(OLD)
    next =
      shipped === undefined
        ? await makePackage(NEW)
        : join(shipped, `plant-store-server_${NEW}_amd64.deb`)
  })

  test('is the same to the last byte from another folder', async () => {
    const again = await makePackage(OLD, join(here, 'elsewhere'))
    expect(readFileSync(again).equals(readFileSync(old))).toBe(true)
    expect(readFileSync(next).equals(readFileSync(old))).toBe(false)
  })

  const hasLintian = spawnSync('lintian', ['--version']).status === 0
  test('has nothing that lintian reports, but for exceptions with reasons', {
    ...needs('lintian', hasLintian),
    timeout: 300_000,
  }, () => {
    const { stdout } = spawnSync('lintian', ['--allow-root', next], { encoding: 'utf8' })
    expect(stdout).toBe('')
  })

  describe('on a machine', needs('root, systemd-nspawn and mmdebstrap', CAN_START_MACHINE), () => {
    let machine: Machine
    let token = ''

    /** Sends a plant as a caller on the machine does. */
    function store(plant: string, port = 3000): string {
      const script = `fetch('http://127.0.0.1:${port}/plants', { method: 'POST', body: process.argv[1],
        headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' } })
        .then(async (reply) => console.log(reply.status, await reply.text(), reply.headers.get('idempotent-replayed')))`
      return machine.must(`/usr/lib/plant-store/bin/node -e "${script}" '${plant}'`).trim()
    }

    async function isReady(): Promise<void> {
      const asks = `/usr/lib/plant-store/bin/node -e "fetch('http://127.0.0.1:3001/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"`
      while (machine.run(asks).status !== 0) {
        expect(machine.run('systemctl is-active plant-store').text).not.toBe('failed\n')
        await sleep(100)
      }
    }

    const mainPid = () =>
      machine.must('systemctl show --property MainPID --value plant-store').trim()

    beforeAll(async () => {
      const root = join(here, 'root')
      installDebian(root, ['libatomic1'])
      for (const [name, file] of Object.entries({ old, next }))
        cpSync(file, join(root, `root/${name}.deb`))
      writeFileSync(join(root, 'root/settings'), SETTINGS)
      machine = await startMachine(root)
    })
    afterAll(async () => await machine?.stop())

    test('does not start by itself, and says how a token is made', () => {
      const said = machine.must('dpkg --install old.deb')
      expect(said).toContain('sudo plant-store-server token create --name NAME')
      expect(machine.run('systemctl is-enabled plant-store').text.trim()).toBe('disabled')
      expect(machine.run('systemctl is-active plant-store').text.trim()).toBe('inactive')
      expect(
        machine.must('stat -c "%a %U:%G" /etc/plant-store/environment /var/lib/plant-store'),
      ).toBe('640 root:plant-store\n700 plant-store:plant-store\n')
    })

    test('refuses a start without a token, with the command that makes one', async () => {
      machine.must('systemctl start plant-store')
      while (machine.run('systemctl is-active plant-store').text.trim() === 'active')
        await sleep(100)
      const log = machine.must('journalctl --output cat --unit plant-store')
      expect(log).toContain(
        'Make one, and start again:\n  plant-store-server token create --name NAME',
      )
      expect(log).not.toContain('Warning')
      expect(
        machine.must('systemctl show --property ExecMainStatus --value plant-store').trim(),
      ).toBe('78')
    })

    test('keeps a plant over a kill', async () => {
      const made = machine.must('umask 0; plant-store-server token create --name test')
      token = /^plant_\S+$/m.exec(made)?.[0] ?? ''
      machine.must('systemctl enable --now plant-store')
      await isReady()
      expect(store(LARGEST)).toBe('200 {"name":"Fern 🌿"} null')
      const before = mainPid()
      machine.must(`kill -KILL ${before}`)
      while (['0', before].includes(mainPid())) await sleep(100)
      await isReady()
      expect(store(LARGEST)).toBe('200 {"name":"Fern 🌿"} true')
    })

    test('runs commands as the service, so that no file belongs to root', () => {
      expect(machine.must('plant-store-server export 2>/dev/null')).toBe(`${LARGEST}\n`)
      machine.must('plant-store-server backup by-hand.db')
      machine.must('systemctl start plant-store-backup')
      expect(machine.must('ls /var/lib/plant-store/backups')).toMatch(/^plants-.*Z\.db$/m)
      expect(machine.must('plant-store-server doctor')).toContain('the store is for its owner only')
      expect(machine.must('find /var/lib/plant-store ! -user plant-store -o -perm /077')).toBe('')
      const { status, text } = machine.run(
        'runuser -u nobody -- plant-store-server token create --name "my token"',
      )
      expect([status, text]).toEqual([
        77,
        'plant-store-server: only root and plant-store may use the store of this machine. ' +
          "Try: sudo plant-store-server token create --name 'my token'\n",
      ])
      expect(machine.must('runuser -u nobody -- plant-store-server --version').trim()).toBe(OLD)
    })

    test('reads settings as systemd does', () => {
      machine.must(`cat > /run/systemd/system/settings.service <<'END'
[Service]
Type=oneshot
EnvironmentFile=/root/settings
ExecStart=/bin/sh -c 'env --null > /root/shown'
END
systemctl daemon-reload; systemctl start settings`)
      const shown = machine.must('base64 --wrap 0 shown')
      const entries = Buffer.from(shown, 'base64').toString().split('\0').filter(Boolean)
      const all = new Map(
        entries.map((entry) => [
          entry.slice(0, entry.indexOf('=')),
          entry.slice(entry.indexOf('=') + 1),
        ]),
      )
      const own = parseEnvironmentFile(SETTINGS)
      expect(Object.keys(own)).toHaveLength(13)
      for (const [name, value] of Object.entries(own))
        expect(`${name}=${value}`).toBe(`${name}=${all.get(name)}`)
      const given = [...all.keys()].filter(
        (name) => SETTINGS.includes(`${name}=`) || name === 'INDENTED',
      )
      expect(given.toSorted()).toEqual(Object.keys(own).toSorted())
    })

    test('gives commands the settings of the service', async () => {
      machine.must('cp -p /etc/plant-store/environment kept')
      machine.must('echo sqlite:/var/lib/plant-store/data/other.db > /etc/plant-store/url')
      machine.must(`cat >> /etc/plant-store/environment <<'END'
PLANT_STORE_DATABASE_URL_FILE=/etc/plant-store/url
NODE_OPTIONS=--allow-fs-read=/etc/hostname --max-old-space-size=200
END`)
      token =
        /^plant_\S+$/m.exec(machine.must('plant-store-server token create --name x'))?.[0] ?? ''
      machine.must('systemctl restart plant-store')
      await isReady()
      expect(store('{"id":2,"name":"Moss"}')).toBe('200 {"name":"Moss"} null')
      expect(machine.must('plant-store-server export 2>/dev/null')).toBe('{"id":2,"name":"Moss"}\n')
      machine.must('cp -p kept /etc/plant-store/environment; rm /etc/plant-store/url')
      machine.must('systemctl restart plant-store')
      await isReady()
    })

    test('restarts a running server at an upgrade, which finds its plants', async () => {
      const before = mainPid()
      machine.must('echo PLANT_STORE_BODY_LIMIT_BYTES=4096 >> /etc/plant-store/environment')
      machine.must('dpkg --install next.deb </dev/null')
      expect(mainPid()).not.toBe(before)
      await isReady()
      expect(machine.must('plant-store-server --version').trim()).toBe(NEW)
      expect(machine.must('plant-store-server export 2>/dev/null')).toBe(`${LARGEST}\n`)
      expect(machine.must('cat /etc/plant-store/environment')).toContain('4096')
    })

    test('keeps plants and settings when it is removed, and finds them again', async () => {
      machine.must('dpkg --remove plant-store-server')
      expect(machine.run('systemctl is-active plant-store').text.trim()).toBe('inactive')
      const said = machine.must('dpkg --install next.deb')
      expect(said).toContain('the server does not run. Start it: sudo systemctl start plant-store')
      expect(machine.must('systemctl is-enabled plant-store').trim()).toBe('enabled')
      machine.must('systemctl start plant-store')
      await isReady()
      expect(machine.must('plant-store-server export 2>/dev/null')).toBe(`${LARGEST}\n`)
      expect(machine.must('cat /etc/plant-store/environment')).toContain('4096')
    })

    test('leaves the plants and nothing else when it is purged, and finds them again', () => {
      const said = machine.must('dpkg --purge plant-store-server')
      expect(said).toContain('stay in /var/lib/plant-store')
      const left = machine.must(
        'find / -xdev -name "*plant-store*" ! -path "/proc/*" ! -path "/root/*" ! -path "/var/log/*" ! -path "/tmp/*"',
      )
      expect(left).toBe('/var/lib/plant-store\n')
      machine.must('dpkg --install next.deb')
      expect(machine.run('systemctl is-enabled plant-store').text.trim()).toBe('disabled')
      expect(machine.must('plant-store-server export 2>/dev/null')).toBe(`${LARGEST}\n`)
    })
  })
})
