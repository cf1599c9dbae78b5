import { readFileSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { describe, expect, test } from 'vitest'
import { logLinesIn, runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { createAuthenticate } from '../../src/auth/token-cache.ts'
import { openSqliteStore } from '../../src/sqlite/store.ts'
import { expectInOrder, joinInterrupted, needsStrace } from '../process/system-calls.ts'
import { tokenRecord } from '../wire/harness.ts'
import { query } from './plants.ts'
import { arrange as arrangePlace, type Ended, ends, runOn } from './program.ts'

async function arrange() {
  const place = await arrangePlace(0)
  const auditFile = place.at('audit.jsonl')
  return {
    ...place,
    token: (line: string) => place.run(`token ${line}`),
    async isAccepted(text: string) {
      const store = await openSqliteStore({ path: place.path })
      const token = await createAuthenticate(store.tokens)(text.trim(), {})
      await store.close()
      return token !== undefined
    },
    auditFile,
    recordsInFile: () => logLinesIn(readFileSync(auditFile, 'utf8')),
  }
}

/** The same with one token, and its id. */
async function arrangeOne() {
  const place = await arrange()
  const made = await place.token('create --name greenhouse')
  return { ...place, made, id: idIn(made.out) }
}

function idIn(token: string): string {
  return token.split('_')[1] ?? ''
}

/** The audit lines between those for people. */
function recordsIn(err: string): Record<string, unknown>[] {
  return logLinesIn(err.match(/^\{.*\n/gm)?.join('') ?? '')
}

const who = {
  level: 'info',
  time: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  user: userInfo().username,
}
const common = { ...who, store: expect.stringContaining('plants.db') }
const aTime = expect.stringMatching(/^20\d\d-.*Z$/)
const noDatabase = expect.stringContaining('file is not a database')

/** Fails unless a command leaves this line alone. */
function expectRecord({ err }: Ended, audit: string, fields: object): void {
  expect(recordsIn(err)).toEqual([{ ...common, outcome: 'done', audit, ...fields }])
}

describe('a token command leaves one line that says who did what when, and', () => {
  test('create puts the token alone on standard output, and it works', async () => {
    const { made, id, isAccepted } = await arrangeOne()
    const says =
      /^SQLite .*plants\.db.*\n\{.*\}\nToken [0-9a-f]{12} \(greenhouse\), expires: 20\d\d-.*shown this once/
    expect(made).toEqual(ends(0, says, expect.stringMatching(/^plant_\S+\n$/)))
    expect(made.err).not.toContain(made.out.trim())
    expect(await isAccepted(made.out)).toBe(true)
    const fields = { tokenId: id, tokenName: 'greenhouse', expires: aTime }
    expectRecord(made, 'token.create', fields)
  })

  test('create takes 90 days, a time that is given, or never', async () => {
    const { token } = await arrange()
    await token('create --name default')
    await token('create --name short --expires 12h')
    const forever = await token('create --name forever --expires never')
    expect(recordsIn(forever.err)).toMatchObject([{ expires: 'never' }])
    const { out } = await token('list')
    const hoursLeft = (name: string) => {
      const [, created = '', expires = ''] =
        new RegExp(`${name} .*?(20\\S+Z) {2}(\\S+)`).exec(out) ?? []
      return (Date.parse(expires) - Date.parse(created)) / 3_600_000
    }
    expect([hoursLeft('default'), hoursLeft('short')]).toEqual([90 * 24, 12])
    expect(out).toMatch(/forever .*Z +never +never$/m)
  })

  test('list shows every token and no secret', async () => {
    const { token, made, id } = await arrangeOne()
    const listed = await token('list')
    expect(listed.out).toMatch(/^ID +NAME +STATE +CREATED +EXPIRES +LAST USED\n/)
    expect(listed.out).toMatch(new RegExp(`^${id} +greenhouse +in use .* never\n`, 'm'))
    expect(listed.out).not.toContain(made.out.trim().slice(20))
    expectRecord(listed, 'token.list', { tokens: 1 })
  })

  test('revoke ends a token, which cannot be rotated any more', async () => {
    const { token, made, id, isAccepted } = await arrangeOne()
    const about = { tokenId: id, tokenName: 'greenhouse', expires: aTime }
    expectRecord(await token(`revoke ${id}`), 'token.revoke', { ...about, wasRevokedBefore: false })
    expect(await isAccepted(made.out)).toBe(false)
    expect((await token('list')).out).toContain('revoked 20')
    const again = await token(`revoke ${id}`)
    expect(again).toEqual(ends(0, 'was revoked before'))
    expectRecord(again, 'token.revoke', { ...about, wasRevokedBefore: true })
    const says = 'Try: plant-store-server token create --name greenhouse'
    expect(await token(`rotate ${id}`)).toEqual(ends(78, says))
  })

  test('rotate makes a successor while the old token goes on', async () => {
    const { token, made, id, isAccepted } = await arrangeOne()
    const successor = await token(`rotate ${id}`)
    expect(successor).toEqual(ends(0, new RegExp(`Token ${id} works until 20`)))
    expectRecord(successor, 'token.rotate', {
      ...{ tokenId: id, tokenName: 'greenhouse', expires: aTime },
      ...{ successorId: idIn(successor.out), successorExpires: aTime },
    })
    expect(await isAccepted(made.out)).toBe(true)
    expect(await isAccepted(successor.out)).toBe(true)
    expect((await token('list')).out.match(/greenhouse/g)).toHaveLength(2)
  })

  test('one that fails, with its reason', async () => {
    const ended = await (await arrange()).token('revoke ffffffffffff')
    const reason = 'there is no token ffffffffffff'
    expect(ended).toEqual(ends(78, `${reason}. Try: plant-store-server token list`))
    const record = { ...common, audit: 'token.revoke', outcome: 'failed', reason }
    expect(recordsIn(ended.err)).toEqual([record])
  })

  test('with who called sudo, at every log level', async () => {
    const environment = 'SUDO_USER=ann PLANT_STORE_LOG_LEVEL=silent'
    const { err } = await (await arrange()).shell(`${environment} server token list`)
    expect(recordsIn(err)).toEqual([expect.objectContaining({ sudoUser: 'ann' })])
  })
})

test('restore records how many tokens come back and which of them work, no secret, and why it failed', async () => {
  const { at, run, token, auditFile, recordsInFile } = await arrange()
  const create = async (name: string) => idIn((await token(`create --name ${name}`)).out)
  const ids = { good: await create('good'), ended: await create('ended') }
  await token(`revoke ${ids.ended}`)
  const backup = at('backup.db')
  await run(`backup ${backup}`)
  const restore = (to: string) => runOn(to, `restore ${backup} --audit-file ${auditFile}`)
  const { code, err } = await restore(at('target.db'))
  expect(code).toBe(0)
  const record = { ...who, audit: 'restore', backup }
  const done = { outcome: 'done', tokens: 2, usableTokenIds: [ids.good] }
  expect(recordsInFile()).toEqual([{ ...record, store: at('target.db'), ...done }])
  expect(recordsIn(err)).toEqual(recordsInFile())
  const secrets = 'SELECT group_concat(lower(hex(secret_sha256))) AS list FROM tokens'
  const hashes = String((query(at('target.db'), secrets) as { list: string }).list).split(',')
  expect(hashes).toHaveLength(2)
  for (const hash of hashes) expect(err).not.toContain(hash)

  writeFileSync(backup, 'x'.repeat(9_999))
  expect(await restore(at('other.db'))).toMatchObject({ code: 69 })
  const failed = { ...record, store: at('other.db'), outcome: 'failed', reason: noDatabase }
  expect(recordsInFile()[1]).toEqual(failed)
})

describe('the audit file', () => {
  test('gets each line, without the secret, and is added to', async () => {
    const { token, auditFile, recordsInFile } = await arrange()
    const { out, err } = await token(`create --name greenhouse --audit-file ${auditFile}`)
    const secret = out.trim().slice('plant_0123456789ab_'.length)
    expect(secret).toHaveLength(51)
    expect(err + readFileSync(auditFile, 'utf8')).not.toContain(secret)
    expect(recordsInFile()).toEqual(recordsIn(err))
    await token(`list --audit-file ${auditFile}`)
    expect(recordsInFile().map(({ audit }) => audit)).toEqual(['token.create', 'token.list'])
  })

  test('is synced before the token is shown', needsStrace, async () => {
    const { at, shell } = await arrange()
    const under = `strace -f -y -s 20 -o calls -e trace=openat,write`
    const line = 'server token create --name x --audit-file audit.jsonl'
    expect(await shell(line, under)).toMatchObject({ code: 0 })
    const lines = joinInterrupted(readFileSync(at('calls'), 'utf8').split('\n'))
    expectInOrder(lines, [
      // With O_SYNC a write ends on stable storage (open(2)).
      /^openat\(.*"audit\.jsonl".*\bO_SYNC\b/,
      /^write\(.*audit\.jsonl>.* = \d+$/,
      /^write\(1<.*"plant_/,
    ])
  })

  test('that cannot be opened stops the command before it does anything', async () => {
    const { token, path } = await arrange()
    const says = 'nothing was done: cannot write the audit file: ENOENT'
    const line = 'create --name greenhouse --audit-file /nowhere/audit.jsonl'
    expect(await token(line)).toEqual(ends(73, says, ''))
    expect(query(path, 'SELECT count(*) AS tokens FROM tokens')).toEqual({ tokens: 0 })
  })

  test('has the failure of a command whose store cannot be opened', async () => {
    const { token, path, recordsInFile, auditFile } = await arrange()
    writeFileSync(path, 'these are the notes of somebody else, '.repeat(200))
    const { code, err } = await token(`create --name greenhouse --audit-file ${auditFile}`)
    expect(code).toBe(69)
    const record = { ...who, audit: 'token.create', outcome: 'failed', reason: noDatabase }
    expect(recordsInFile()).toEqual([record])
    expect(recordsIn(err)).toEqual([record])
  })

  test('that is full lets nobody have a token that is not recorded', async () => {
    const ended = await (await arrange()).token('create --name x --audit-file /dev/full')
    expect(ended).toEqual(ends(74, 'cannot write the audit file: ENOSPC', ''))
    expect(recordsIn(ended.err)).toEqual([expect.objectContaining({ outcome: 'done' })])
  })
})

describe('the token of a first run', () => {
  test('is in the audit file before it is shown', async () => {
    const { folder, recordsInFile } = await arrange()
    const environment = { PLANT_STORE_AUDIT_FILE: 'audit.jsonl', SUDO_USER: 'ann' }
    const { token } = await startServerProcess({ folder, environment })
    const about = { tokenId: idIn(token), tokenName: 'first-run', expires: aTime }
    const what = { sudoUser: 'ann', audit: 'token.create', outcome: 'done' }
    expect(recordsInFile()).toEqual([{ ...common, ...what, ...about }])
    expect(JSON.stringify(recordsInFile())).not.toContain(token.slice(19))
  })

  test.each([
    ['cannot be opened', '/nowhere/audit.jsonl', 73, 'nothing was done: cannot write the audit'],
    ['is full', '/dev/full', 74, 'cannot write the audit file: ENOSPC'],
  ])('is not made where the audit file %s', async (_how, auditFile, code, reason) => {
    const { folder } = await arrange()
    const environment = { PLANT_STORE_AUDIT_FILE: auditFile }
    expect(await runToEnd({ folder, environment })).toMatchObject(ends(code, reason, ''))
    expect((await startServerProcess({ folder })).token).toMatch(/^plant_/)
  })
})

test('the name of a token that another program put into the store makes no line of its own and controls no terminal', async () => {
  const tokenName =
    'x\n{"level":"info","audit":"token.create","user":"root"}\r\u001b[2K\u009b31m\u2028\u{1f33f}y'
  const { token, path } = await arrange()
  const store = await openSqliteStore({ path })
  await store.tokens.add(tokenRecord({ id: 'ffffffffffff', name: tokenName }))
  await store.close()
  expect((await token('list')).out.match(/\n/g)).toHaveLength(2)
  const { err } = await token('revoke ffffffffffff')
  expect(err).toMatch(/^\{[\x20-\x7e]+$/m)
  expect(recordsIn(err)).toMatchObject([{ audit: 'token.revoke', tokenName }])
})
