import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readPlants } from '../sqlite/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { ROOT, readRoot, unitNodeFlags } from './node-flags.ts'
import { post, runToEnd, startServerProcess } from './server-process.ts'

/** Node 26 forbids fsync under the model, which a backup needs. */
const isSyncForbidden = Number.parseInt(process.versions.node, 10) >= 26

function confine() {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  mkdirSync(data)
  const nodeFlags = unitNodeFlags(data)
  const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${data}/plants.db` }
  return {
    folder,
    data,
    flags: nodeFlags,
    start: (token?: string) => startServerProcess({ folder, nodeFlags, environment, token }),
    run: (...args: string[]) => runToEnd({ folder, nodeFlags, environment, args }),
  }
}

describe("under Node's permission model, as the unit starts it, the server", () => {
  test('recovers after a kill, whose log it must sync', async () => {
    const { start, data } = confine()
    const first = await start()
    await first.client.createPlant({ id: 1, name: 'Fern' })
    await first.end('SIGKILL')
    expect(readdirSync(data)).toContain('plants.db-wal')
    const second = await start(first.token)
    await second.client.createPlant({ id: 1, name: 'Fern' })
    expect(await second.end()).toMatchObject({ code: 0 })
  })

  test('says what to allow for a database elsewhere, also behind a link', async () => {
    const { run, folder, data } = confine()
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere/plants.db'), join(data, 'link.db'))
    for (const path of [join(folder, 'elsewhere/plants.db'), join(data, 'link.db')]) {
      const err = expect.stringMatching(/permission model forbids it\. Try: --allow-fs-read/)
      const ended = await run('token', 'list', '--database-url', `sqlite:${path}`)
      expect(ended).toMatchObject({ code: 69, err })
    }
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })

  test('keeps an audit file beside the data', async () => {
    const { run, data } = confine()
    const auditFile = join(data, 'audit.jsonl')
    const args = ['token', 'create', '--name', 'greenhouse', '--audit-file', auditFile]
    const { code, out } = await run(...args)
    expect(code).toBe(0)
    expect(out).toMatch(/^plant_/)
    expect(readFileSync(auditFile, 'utf8')).toMatch(/"token\.create".*"greenhouse"/)
  })

  test('makes and restores backups beside the data, and nowhere else', async () => {
    const { start, run, folder, data } = confine()
    const server = await start()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const backup = await run('backup', join(data, 'backup.db'))
    if (isSyncForbidden) {
      const err = expect.stringContaining('without --permission')
      expect(backup).toMatchObject({ code: 69, err })
      expect(readdirSync(data)).not.toContain('backup.db')
      return
    }
    expect(backup).toMatchObject({ code: 0 })
    expect((await run('backup', join(folder, 'elsewhere.db'))).code).not.toBe(0)
    expect(readdirSync(folder)).toEqual(['data'])
    const target = `sqlite:${data}/restored.db`
    const restored = await run('restore', join(data, 'backup.db'), '--database-url', target)
    expect(restored).toMatchObject({ code: 0 })
    expect(readPlants(join(data, 'restored.db'))).toHaveLength(1)
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
    const { flags, folder } = confine()
    const main = join(ROOT, 'apps/server/dist/main.js')
    const { code, err } = await runToEnd({
      folder,
      environment: { MAIN: main },
      nodeFlags: [...flags, '--eval', script],
    })
    expect(code).toBe(1)
    expect(err).toMatch(/ERR_ACCESS_DENIED|ERR_DLOPEN_DISABLED/)
  })
})

test("nothing loosens Node's HTTP parser", () => {
  const loosening = /insecure-http-parser|max-http-header-size|insecureHTTPParser/
  const sources = readdirSync(join(ROOT, 'apps/server/src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `apps/server/src/${name}`)
  for (const file of [...sources, 'package.json', 'apps/server/package.json', '.ci/run']) {
    expect(readRoot(file), file).not.toMatch(loosening)
  }
})

test('a body with __proto__ is stored like any other', async () => {
  const folder = temporaryFolder()
  const server = await startServerProcess({ folder })
  const reply = await post(server, {
    body: '{"id":1,"name":"Fern","__proto__":{"tag":"polluted"},"constructor":{"prototype":{"tag":"x"}}}',
  })
  expect([reply.status, await reply.json()]).toEqual([200, { name: 'Fern' }])
  await server.client.createPlant({ id: 2, name: 'Moss' })
  expect((await server.end()).code).toBe(0)
  expect(readPlants(join(folder, 'data/plants.db')).map(({ tag }) => tag)).toEqual([null, null])
})
