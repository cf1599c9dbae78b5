import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { logLinesIn, runToEnd, startServerProcess } from '../process/server-process.ts'
import { joinInterrupted, needsStrace } from '../process/system-calls.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { query } from './plants.ts'
import { runOn } from './program.ts'
import { runShell } from './shell.ts'

function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  const auditFile = join(folder, 'audit.jsonl')
  return {
    folder,
    path,
    auditFile,
    run: (...args: string[]) => runOn(path, ['token', ...args]),
    recordsInFile: () => logLinesIn(readFileSync(auditFile, 'utf8')),
  }
}

/** The audit lines between those for people. */
function recordsIn(err: string): Record<string, unknown>[] {
  return logLinesIn(err.match(/^\{.*\n/gm)?.join('') ?? '')
}

const common = {
  level: 'info',
  time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  user: userInfo().username,
  store: expect.stringContaining('plants.db'),
}
const anId = expect.stringMatching(/^[0-9a-f]{12}$/)
const aTime = expect.stringMatching(/^20\d\d-.*Z$/)

describe('every token command leaves one line that says who did what when:', () => {
  test('create, list, rotate and revoke', async () => {
    const { run } = arrange()
    const created = await run('create', '--name', 'greenhouse', '--expires', 'never')
    const id = created.out.split('_')[1] ?? ''
    const token = { tokenId: id, tokenName: 'greenhouse' }
    const done = { ...common, outcome: 'done' }
    expect(recordsIn(created.err)).toEqual([
      { ...done, audit: 'token.create', ...token, expires: 'never' },
    ])
    expect(recordsIn((await run('list')).err)).toEqual([
      { ...done, audit: 'token.list', tokens: 1 },
    ])
    const successor = { successorId: anId, successorExpires: 'never' }
    expect(recordsIn((await run('rotate', id)).err)).toEqual([
      { ...done, audit: 'token.rotate', ...token, expires: aTime, ...successor },
    ])
    for (const wasRevokedBefore of [false, true]) {
      expect(recordsIn((await run('revoke', id)).err)).toEqual([
        { ...done, audit: 'token.revoke', ...token, expires: aTime, wasRevokedBefore },
      ])
    }
  })

  test('one that fails, with its reason', async () => {
    const { run } = arrange()
    const { code, err } = await run('revoke', 'ffffffffffff')
    expect(code).toBe(78)
    const reason = 'there is no token ffffffffffff'
    expect(err).toContain(`${reason}. Try: plant-store-server token list`)
    expect(recordsIn(err)).toEqual([
      { ...common, audit: 'token.revoke', outcome: 'failed', reason },
    ])
  })

  test('with who called sudo, at every log level', async () => {
    const environment = 'SUDO_USER=ann PLANT_STORE_LOG_LEVEL=silent'
    const { err } = await runShell(temporaryFolder(), `${environment} server token list`)
    expect(recordsIn(err)).toEqual([expect.objectContaining({ sudoUser: 'ann' })])
  })
})

test('restore records how many tokens come back and which of them work, no secret, and why it failed', async () => {
  const { folder, path, auditFile, run, recordsInFile } = arrange()
  const create = async (name: string) =>
    (await run('create', '--name', name)).out.split('_')[1] ?? ''
  const ids = { good: await create('good'), ended: await create('ended') }
  await run('revoke', ids.ended)
  const backup = join(folder, 'backup.db')
  await runOn(path, ['backup', backup])
  const target = join(folder, 'target.db')
  const restore = (to: string) => runOn(to, ['restore', backup, '--audit-file', auditFile])
  const { code, err } = await restore(target)
  expect(code).toBe(0)
  const { level, time, user } = common
  const record = { level, time, user, audit: 'restore', backup }
  const done = { ...record, store: target, outcome: 'done', tokens: 2, usableTokenIds: [ids.good] }
  expect(recordsInFile()).toEqual([done])
  expect(recordsIn(err)).toEqual([done])
  const secrets = 'SELECT group_concat(lower(hex(secret_sha256))) AS list FROM tokens'
  const hashes = String((query(target, secrets) as { list: string }).list).split(',')
  expect(hashes).toHaveLength(2)
  for (const hash of hashes) expect(err).not.toContain(hash)

  writeFileSync(backup, 'x'.repeat(9_999))
  const other = join(folder, 'other.db')
  expect(await restore(other)).toMatchObject({ code: 69 })
  const reason = expect.stringContaining('file is not a database')
  expect(recordsInFile()[1]).toEqual({ ...record, store: other, outcome: 'failed', reason })
})

describe('the audit file', () => {
  test('gets each line, without the secret, is added to, and is for its owner only', async () => {
    const { run, auditFile, recordsInFile } = arrange()
    const { out, err } = await run('create', '--name', 'greenhouse', '--audit-file', auditFile)
    const secret = out.trim().slice('plant_0123456789ab_'.length)
    expect(secret).toHaveLength(51)
    expect(err).not.toContain(secret)
    expect(readFileSync(auditFile, 'utf8')).not.toContain(secret)
    expect(recordsInFile()).toEqual(recordsIn(err))
    await run('list', '--audit-file', auditFile)
    expect(recordsInFile().map(({ audit }) => audit)).toEqual(['token.create', 'token.list'])
    expect(statSync(auditFile).mode & 0o777).toBe(0o600)
  })

  test('is synced before the token is shown', needsStrace, async () => {
    const { folder } = arrange()
    const calls = join(folder, 'calls')
    const under = ['strace', '-D', '-f', '-y', '-s', '20', '-o', calls]
    const { code } = await runToEnd({
      folder,
      under: [...under, '-e', 'trace=openat,write'],
      args: ['token', 'create', '--name', 'x', '--audit-file', 'audit.jsonl'],
    })
    expect(code).toBe(0)
    const lines = joinInterrupted(readFileSync(calls, 'utf8').split('\n'))
    // With O_SYNC a write ends on stable storage (open(2)).
    const opened = lines.findIndex((line) => /^openat\(.*"audit\.jsonl".*\bO_SYNC\b/.test(line))
    const written = lines.findIndex((line) => /^write\(.*audit\.jsonl>.* = \d+$/.test(line))
    const shown = lines.findIndex((line) => /^write\(1<.*"plant_/.test(line))
    const order = [opened, written, shown]
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((one, other) => one - other))
  })

  test('that cannot be opened stops the command before it does anything', async () => {
    const { run, path } = arrange()
    const args = ['--name', 'greenhouse', '--audit-file', '/nowhere/audit.jsonl']
    const { code, out, err } = await run('create', ...args)
    expect({ code, out }).toEqual({ code: 73, out: '' })
    expect(err).toContain('nothing was done: cannot write the audit file: ENOENT')
    const store = await openSqliteStore({ path })
    expect(await store.tokens.list()).toEqual([])
    await store.close()
  })

  test('has the failure of a command whose store cannot be opened', async () => {
    const { run, path, recordsInFile, auditFile } = arrange()
    writeFileSync(path, 'these are the notes of somebody else, '.repeat(200))
    const { code, err } = await run('create', '--name', 'greenhouse', '--audit-file', auditFile)
    expect(code).toBe(69)
    const reason = expect.stringContaining('file is not a database')
    const { store: _store, ...who } = common
    const record = { ...who, audit: 'token.create', outcome: 'failed', reason }
    expect(recordsInFile()).toEqual([record])
    expect(recordsIn(err)).toEqual([record])
  })

  test('that is full lets nobody have a token that is not recorded', async () => {
    const { run } = arrange()
    const { code, out, err } = await run('create', '--name', 'x', '--audit-file', '/dev/full')
    expect({ code, out }).toEqual({ code: 74, out: '' })
    expect(err).toContain('cannot write the audit file: ENOSPC')
    expect(recordsIn(err)).toEqual([expect.objectContaining({ outcome: 'done' })])
  })
})

describe('the token of a first run', () => {
  test('is in the audit file before it is shown', async () => {
    const { folder, recordsInFile } = arrange()
    const environment = { PLANT_STORE_AUDIT_FILE: 'audit.jsonl', SUDO_USER: 'ann' }
    const { token } = await startServerProcess({ folder, environment })
    const about = { tokenId: token.split('_')[1], tokenName: 'first-run', expires: aTime }
    expect(recordsInFile()).toEqual([
      { ...common, sudoUser: 'ann', audit: 'token.create', outcome: 'done', ...about },
    ])
    expect(JSON.stringify(recordsInFile())).not.toContain(token.slice(19))
  })

  test.each([
    ['cannot be opened', '/nowhere/audit.jsonl', 73, 'nothing was done: cannot write the audit'],
    ['is full', '/dev/full', 74, 'cannot write the audit file: ENOSPC'],
  ])('is not made where the audit file %s', async (_how, auditFile, exitCode, reason) => {
    const { folder } = arrange()
    const environment = { PLANT_STORE_AUDIT_FILE: auditFile }
    const { code, out, err } = await runToEnd({ folder, environment })
    expect({ code, out }).toEqual({ code: exitCode, out: '' })
    expect(err).toContain(reason)
    expect((await startServerProcess({ folder })).token).toMatch(/^plant_/)
  })
})

describe('no text makes a line of its own or controls a terminal:', () => {
  const forged =
    'x\n{"level":"info","audit":"token.create","user":"root"}\r\u001b[2K\u009b31m\u2028\u{1f33f}y'

  test('as the name of a token that another program put into the store', async () => {
    const { run, path } = arrange()
    const store = await openSqliteStore({ path })
    await store.tokens.add({
      id: 'ffffffffffff',
      name: forged,
      secretSha256: new Uint8Array(32),
      createdAt: 0,
      expiresAt: undefined,
      revokedAt: undefined,
      lastUsedAt: undefined,
    })
    await store.close()
    expect((await run('list')).out.match(/\n/g)).toHaveLength(2)
    const { err } = await run('revoke', 'ffffffffffff')
    expect(err).toMatch(/^\{[\x20-\x7e]+$/m)
    expect(recordsIn(err)).toMatchObject([{ audit: 'token.revoke', tokenName: forged }])
  })
})
