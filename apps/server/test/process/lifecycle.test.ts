import { describe, expect, test } from 'vitest'
import { runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { ends } from '../commands/program.ts'

describe('a first run', () => {
  test('shows its token, and no later run does', async () => {
    const folder = temporaryFolder()
    const { token } = await startServerProcess({ folder })
    expect(token).toMatch(/^plant_/)
    expect((await startServerProcess({ folder, token })).greeting).not.toContain('plant_')
  })

  test.each([
    ['in production', { NODE_ENV: 'production' }],
    ['beyond loopback', { PLANT_STORE_LISTEN: '0.0.0.0:0' }],
  ])('%s is refused without a token, with the way to make one', async (_where, environment) => {
    const folder = temporaryFolder()
    await runToEnd({ folder, environment, args: ['migrate'] })
    const ended = await runToEnd({ folder, environment })
    expect(ended).toMatchObject(ends(78, 'token create --name NAME', ''))
  })

  test('that finds its port in use names it and has made no token: the next run shows one', async () => {
    const folder = temporaryFolder()
    const environment = { PLANT_STORE_LISTEN: new URL((await startServerProcess()).url).host }
    const says =
      /cannot listen on host 127\.0\.0\.1, port \d+: EADDRINUSE\. Try: another one in PLANT_STORE_L/
    expect(await runToEnd({ folder, environment })).toMatchObject(ends(69, says))
    expect((await startServerProcess({ folder })).token).toMatch(/^plant_/)
  })

  test('says that its store is new, and a server over plants does not', async () => {
    const folder = temporaryFolder()
    const first = await startServerProcess({ folder })
    const [, time = ''] = /^The store holds 0 plants, new since (\S+)$/m.exec(first.greeting) ?? []
    expect(Date.now() - Date.parse(time)).toBeLessThan(60_000)
    await first.untilLogged('"empty":"0 plants, new since')
    await first.client.createPlant({ id: 1, name: 'Fern' })
    const metrics = await (await fetch(`${first.operationsUrl}/metrics`)).text()
    const created = /^plant_store_database_created_timestamp_seconds (\S+)$/m.exec(metrics)
    expect(Number(created?.[1])).toBe(Date.parse(time) / 1_000)
    const next = await startServerProcess({ folder, token: first.token })
    expect(next.greeting).not.toContain('new since')
  })

  test('with plants but no token is refused', async () => {
    const folder = temporaryFolder()
    const server = await startServerProcess({ folder })
    await server.client.createPlant({ id: 1, name: 'Fern' })
    await server.end()
    const args = ['token', 'revoke', server.token.split('_')[1] ?? '']
    expect((await runToEnd({ folder, args })).code).toBe(0)
    expect(await runToEnd({ folder })).toMatchObject({ code: 78 })
  })
})
