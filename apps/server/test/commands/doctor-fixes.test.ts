import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import type { HealthCheck } from '../../src/store/health-check.ts'
import { MAIN } from '../process/main.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { needsStrace } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { execute, makeStore, spreadPlants } from './plants.ts'

const isRoot = process.getuid?.() === 0

/** Mounts end with the command: nothing is left on the machine. */
const PRIVATE = 'unshare --mount'
const canMount = isRoot && spawnSync('bash', ['-c', `${PRIVATE} true`]).status === 0

const needsMounts = needs('root, who may mount', canMount)
const needsRoot = needs('root, who may be another user', isRoot)

/** Runs a line of shell in which `doctor` examines the store `plants.db` of the folder. */
function shell(folder: string, line: string): string {
  const doctor = `doctor() { '${process.execPath}' $FLAGS '${MAIN}' doctor --json "$@"; }`
  const { stdout, stderr } = spawnSync('bash', ['-c', `${doctor}; export -f doctor; ${line}`], {
    cwd: folder,
    // With a socket as standard input bash reads what its user has set up.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { PATH: process.env.PATH, PLANT_STORE_DATABASE_URL: 'sqlite:plants.db' },
  })
  return stdout + stderr
}

/** What doctor says in a line of shell, but for what is as it should be. */
function problemsIn(folder: string, line: string): HealthCheck[] {
  const lines = shell(folder, line).match(/^\{.*\}$/gm) ?? []
  expect(lines).not.toEqual([])
  return lines.map((text) => JSON.parse(text)).filter(({ level }) => level !== 'ok')
}

async function arrange(name = 'plants.db') {
  const folder = temporaryFolder()
  await makeStore(join(folder, name), spreadPlants(3))
  return folder
}

const FULL = `dd if=/dev/zero of=disk/filler bs=4k 2> /dev/null; cd disk; doctor`
const COPY = `cp plants.db disk/`

describe('the fix that doctor names', () => {
  test.each([
    ['a tmpfs', 'mount -t tmpfs -o size=4m none disk'],
    [
      'ext4',
      'truncate -s 16m image; mkfs.ext4 -q -b 4096 image 2> /dev/null; mount -o loop image disk',
    ],
  ])('for a full disk is room, with how much: %s', needsMounts, async (_what, mount) => {
    const folder = await arrange()
    mkdirSync(join(folder, 'disk'))
    const problems = problemsIn(
      folder,
      `${PRIVATE} bash -c '${mount}; ${COPY}; ${FULL}; rm filler; doctor | sed s/failure/after/'`,
    )
    const failures = problems.filter(({ level }) => level === 'failure')
    expect(failures.map(({ subject }) => subject)).toEqual(['sync', 'disk', 'store'])
    for (const failure of failures) {
      expect(failure).toMatchObject({ fix: expect.stringMatching(/^free 1,02\d MiB on the file /) })
    }
    // The little that the disk has is not enough, but everything works.
    expect(problems.filter(({ level }) => String(level) === 'after')).toMatchObject([
      { subject: 'disk', fix: expect.stringMatching(/^free 1,0[012]\d MiB on/) },
    ])
  })

  test(
    'for a file system that is mounted read-only is to mount it for writing',
    needsMounts,
    async () => {
      const folder = await arrange()
      mkdirSync(join(folder, 'disk'))
      const line = `${PRIVATE} bash -c 'mount -t tmpfs none disk; ${COPY}; mount -o remount,ro disk; cd disk; doctor'`
      expect(problemsIn(folder, line)).toEqual([
        {
          level: 'failure',
          subject: 'disk',
          detail: expect.stringMatching(/disk is on a file system that is mounted read-only$/),
          fix: expect.stringMatching(/^mount the file system of \S+disk for writing/),
        },
      ])
    },
  )

  test('for too few open files is the limit, whichever file meets it', async () => {
    const folder = await arrange()
    // How many files Node opens for itself differs from version to version: down to where none is left.
    const failures: HealthCheck[] = []
    for (let limit = 32; ; limit--) {
      const found = shell(folder, `ulimit -n ${limit}; doctor`).match(/^\{.*\}$/gm)
      if (found === null) break
      const checks: HealthCheck[] = found.map((line) => JSON.parse(line))
      expect(checks).toContainEqual({
        level: 'warning',
        subject: 'files',
        detail: `this user may open ${limit}, and 10000 connections need 10064`,
        fix: 'LimitNOFILE=10064 in a systemd unit, or ulimit -n 10064 where it is started',
      })
      failures.push(...checks.filter(({ level }) => level === 'failure'))
    }
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) {
      expect(failure).toMatchObject({
        fix: expect.stringMatching(/^raise the limit on open files/),
      })
    }
  })

  test.each([
    ['a disk that fails', 'fsync:error=EIO', 'sync', /^replace the disk if dmesg or smartctl/],
    ['a quota', 'mkdir:error=EDQUOT', 'sync', /^raise the disk quota of user \S+ for /],
    ['too few files of the machine', 'mkdir:error=ENFILE', 'sync', /sysctl fs\.file-max$/],
    // The first bytes of what statfs fills in are the kind of the file system.
    ['NFS', 'statfs:poke_exit=@arg2=6969000000000000', 'engine', /^keep the file on a local disk/],
    ['SMB', 'statfs:poke_exit=@arg2=424d53fe00000000', 'engine', /^keep the file on a local disk/],
    ['Ceph', 'statfs:poke_exit=@arg2=0064c30000000000', 'engine', /^keep the file on a local disk/],
  ])('for %s is the one for that', needsStrace, async (_what, fault, subject, fix) => {
    const folder = await arrange()
    const [call] = fault.split(':')
    const traced = `strace -f -o /dev/null -e trace=${call} -e inject=${fault}`
    const problems = problemsIn(folder, `${traced} '${process.execPath}' '${MAIN}' doctor --json`)
    expect(problems.filter(({ level }) => level === 'failure')).toMatchObject([
      { subject, fix: expect.stringMatching(fix) },
    ])
  })

  test('for a limit on the size of a file is that limit', async () => {
    const folder = await arrange()
    expect(problemsIn(folder, 'ulimit -f 0; doctor 2> /dev/null | cat')).toContainEqual({
      level: 'failure',
      subject: 'sync',
      detail: expect.stringContaining('EFBIG'),
      fix: expect.stringMatching(/LimitFSIZE/),
    })
  })

  test('under the permission model is to run it without', async () => {
    const folder = await arrange()
    writeFileSync(join(folder, 'plants.db.last-backup'), '{"finishedAt":"2026-01-01T00:00:00Z"}', {
      mode: 0o600,
    })
    const flags = unitNodeFlags(folder).join(' ')
    const problems = problemsIn(folder, `FLAGS='${flags}'; export FLAGS; doctor`)
    expect(problems).toMatchObject([
      { subject: 'sync', fix: expect.stringMatching(/ doctor without Node's flag --permission$/) },
      {
        subject: 'backup',
        detail: expect.stringMatching(/2026-01-01T00:00:00\.000Z, \d+ days ago$/),
      },
      { subject: 'tokens' },
    ])
  })

  test.each([
    ['the folder has another owner', 'chmod 755 data'],
    ['the folder is closed', 'chmod 700 data'],
    ['the database has another owner', 'chown nobody data'],
    ['the log has another owner', 'chown nobody data data/plants.db; touch data/plants.db-wal'],
    ['a folder above is closed', 'chown -R nobody data; chmod 711 .; chmod 700 ..'],
    ['the folder is missing in one of root', 'rm -r data; chmod 711 ..'],
    ['its owner has taken his own rights', 'chown -R nobody data; chmod 500 data'],
    ['its owner may not write the file', 'chown -R nobody data; chmod 400 data/plants.db'],
  ])(
    'where %s is a command that, run as it stands, lets the user in',
    needsRoot,
    async (_how, prepare) => {
      const above = temporaryFolder()
      const folder = join(above, 'service')
      mkdirSync(join(folder, 'data'), { recursive: true })
      for (const path of [above, folder, join(folder, 'data')]) chmodSync(path, 0o755)
      await makeStore(join(folder, 'data/plants.db'), spreadPlants(3))
      shell(folder, prepare)
      const asNobody = `runuser -u nobody -- '${process.execPath}' '${MAIN}' doctor --json --database-url sqlite:${folder}/data/plants.db`
      const fixes: string[] = []
      for (;;) {
        const [failure] = problemsIn(folder, asNobody).filter(({ level }) => level === 'failure')
        if (failure === undefined || failure.level === 'ok') break
        expect(failure).toMatchObject({ subject: 'permissions' })
        expect(fixes).not.toContain(failure.fix)
        fixes.push(failure.fix)
        expect(shell('/', failure.fix.replace(/^as root: /, ''))).toBe('')
      }
      expect(fixes).not.toEqual([])
    },
  )

  test(
    'where the folder is one that all use is another folder, not to give it away',
    needsRoot,
    () => {
      const asNobody = `runuser -u nobody -- '${process.execPath}' '${MAIN}' doctor --json --database-url sqlite:/etc/plants.db`
      expect(problemsIn('/', asNobody)).toMatchObject([
        {
          subject: 'permissions',
          detail: 'user nobody may not use /etc (mode 755, owned by uid 0)',
          fix: expect.stringMatching(/^a file in a folder of the user's own in /),
        },
      ])
    },
  )

  test.each([
    ['damaged', 'truncate -s 8000 plants.db', / restore BACKUP --set-aside$/],
    ['of another program', '', /^name another file in /],
    ['no database', 'seq 9999 > plants.db', / restore BACKUP --set-aside$/],
    [
      'gone but for its log',
      'mv plants.db plants.db-wal',
      /^if it is lost, try: .* restore BACKUP --set-aside$/,
    ],
  ])('for a store that is %s stands alone, once', async (_how, prepare, fix) => {
    const folder = await arrange()
    if (prepare === '') execute(join(folder, 'plants.db'), 'PRAGMA application_id = 1')
    else shell(folder, prepare)
    const failures = problemsIn(folder, 'doctor').filter(({ level }) => level === 'failure')
    expect(failures).toMatchObject([{ subject: 'store', fix: expect.stringMatching(fix) }])
    expect(failures[0]?.detail).not.toMatch(/[Rr]estore a backup|Name another|Try/)
  })

  test('for a store that another process holds is to end that process', async () => {
    const folder = await arrange()
    const holder = new DatabaseSync(join(folder, 'plants.db'))
    holder.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; DELETE FROM plants')
    const failures = problemsIn(folder, 'doctor').filter(({ level }) => level === 'failure')
    holder.close()
    expect(failures).toMatchObject([
      {
        subject: 'store',
        fix: expect.stringMatching(/^end the process .*fuser -v \S+plants\.db /),
      },
    ])
  })
})
