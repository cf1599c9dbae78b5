import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { readPlants } from '../../../../test/sqlite-file.ts'
import { MAIN } from '../../../../test/start-program.ts'
import { arrange as arrangePlace, ends } from '../commands/program.ts'
import { unitNodeFlags } from './node-flags.ts'

/** Node 26 forbids fsync under the model, which a backup needs. */
const isSyncForbidden = Number.parseInt(process.versions.node, 10) >= 26

async function confine() {
  const { folder, at, path } = await arrangePlace(0)
  const nodeFlags = unitNodeFlags(at('data'))
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${path}`, MAIN }
  const options = { folder, nodeFlags, environment }
  return {
    at,
    start: (token?: string) => startServerProcess({ ...options, token }),
    run: (line: string) => runToEnd({ ...options, args: line.split(' ') }),
    /** Runs a script of Node under the same flags. */
    runScript: (script: string) =>
      runToEnd({ ...options, nodeFlags: [...nodeFlags, '--eval', script] }),
  }
}

describe("under Node's permission model, as the unit starts it, the server", () => {
  test('recovers after a kill, whose log it must sync', async () => {
    const { start, at } = await confine()
    const first = await start()
    await first.client.createPlant({ id: 1, name: 'Fern' })
    await first.end('SIGKILL')
    expect(readdirSync(at('data'))).toContain('plants.db-wal')
    const second = await start(first.token)
    await second.client.createPlant({ id: 1, name: 'Fern' })
    expect(await second.end()).toMatchObject({ code: 0 })
  })

  test('says what to allow for a database elsewhere, also behind a link', async () => {
    const { run, at } = await confine()
    mkdirSync(at('elsewhere'))
    symlinkSync(at('elsewhere/plants.db'), at('data/link.db'))
    const says = 'permission model forbids it. Try: --allow-fs-read'
    for (const name of ['elsewhere/plants.db', 'data/link.db']) {
      const ended = await run(`token list --database-url sqlite:${at(name)}`)
      expect(ended).toMatchObject(ends(69, says))
    }
    expect(readdirSync(at('elsewhere'))).toEqual([])
  })

  test('keeps an audit file beside the data', async () => {
    const { run, at } = await confine()
    const auditFile = at('data/audit.jsonl')
    const { code, out } = await run(`token create --name greenhouse --audit-file ${auditFile}`)
    expect(code).toBe(0)
    expect(out).toMatch(/^plant_/)
    expect(readFileSync(auditFile, 'utf8')).toMatch(/"token\.create".*"greenhouse"/)
  })

  test('makes and restores backups beside the data, and nowhere else', async () => {
    const { start, run, at } = await confine()
    const server = await start()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const backup = await run(`backup ${at('data/backup.db')}`)
    if (isSyncForbidden) {
      expect(backup).toMatchObject(ends(69, 'without --permission'))
      expect(readdirSync(at('data'))).not.toContain('backup.db')
      return
    }
    expect(backup).toMatchObject({ code: 0 })
    expect((await run(`backup ${at('elsewhere.db')}`)).code).not.toBe(0)
    expect(readdirSync(at('.'))).toEqual(['data'])
    const target = at('data/restored.db')
    const restored = await run(`restore ${at('data/backup.db')} --database-url sqlite:${target}`)
    expect(restored).toMatchObject({ code: 0 })
    expect(readPlants(target)).toHaveLength(1)
  })

  test.each([
    ['read other files', "fs.readFileSync('/etc/passwd')"],
    ['read other files through its own', "fs.readFileSync('/proc/self/root/etc/passwd')"],
    ['read its environment again', "fs.readFileSync('/proc/self/environ')"],
    ['write other files', "fs.writeFileSync('outside-of-data', '')"],
    ['change its own program', 'fs.openSync(process.env.MAIN, "a")'],
    ['start programs', "child_process.execFileSync('id')"],
    ['load native addons', "process.dlopen({ exports: {} }, '/nowhere.node')"],
  ])('could not %s', async (_what, script) => {
    const ended = await (await confine()).runScript(script)
    expect(ended).toMatchObject(ends(1, /ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED/))
  })
})
