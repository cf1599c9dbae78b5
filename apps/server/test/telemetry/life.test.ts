import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { needs } from '../../../../test/needs.ts'
import {
  logLinesIn,
  type ServerProcess,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { build } from '../../src/process/build.ts'
import { arrange } from '../commands/program.ts'

const endWith = async (server: ServerProcess, signal?: NodeJS.Signals) =>
  logLinesIn((await server.end(signal)).err)

test.each(['SIGTERM', 'SIGINT'] as const)(
  'a server that ends by %s logs its life from listening to stopped',
  async (signal) => {
    const server = await startServerProcess()
    const { url, operationsUrl, pid, token } = server
    const { version } = build
    const about = { audit: 'token.create', tokenId: token.split('_')[1], tokenName: 'first-run' }
    const lines = await endWith(server, signal)
    expect(JSON.stringify(lines)).not.toContain(token)
    expect(lines).toEqual([
      expect.objectContaining({ msg: 'made the first token', ...about }),
      expect.objectContaining({ msg: 'listening', url, operationsUrl, pid, version }),
      expect.objectContaining({ msg: 'draining', reason: signal }),
      expect.objectContaining({ msg: 'stopped', reason: signal, exitCode: 0 }),
    ])
  },
)

test('SIGUSR2 shows each request at debug, and hides them again, without a restart', async () => {
  const server = await startServerProcess()
  const { createPlant } = server.client
  await createPlant({ id: 1, name: 'before' })
  for (const times of [1, 2]) {
    server.kill('SIGUSR2')
    await server.untilLogged('log level changed', times)
    await createPlant({ id: 1 + times, name: 'shown, and then not' })
  }
  const said = (await endWith(server)).map(
    ({ msg, logLevel, outcome }) => logLevel ?? outcome ?? msg,
  )
  expect(said).toEqual([
    ...['made the first token', 'listening', 'debug', 'created', 'info', 'draining', 'stopped'],
  ])
})

test('a server warns of a file with its database URL that others may read', async () => {
  const { path, at } = await arrange([])
  const openFile = at('url')
  writeFileSync(openFile, `sqlite:${path}`)
  const environment = { PLANT_STORE_DATABASE_URL_FILE: openFile }
  const server = await startServerProcess({ environment })
  const fix = `chmod 600 ${openFile}`
  const warning = expect.objectContaining({ level: 'warn', openFile, fix })
  expect(await endWith(server)).toContainEqual(warning)
})

test('SIGUSR1 opens no inspector, and the server goes on', async () => {
  const server = await startServerProcess()
  // Node opens it on a thread of its own, so that a second signal would find it open.
  for (const id of [1, 2]) {
    server.kill('SIGUSR1')
    await server.client.createPlant({ id, name: 'Fern' })
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  await expect(fetch('http://127.0.0.1:9229/json/version')).rejects.toThrow()
  const { code, err } = await server.end()
  expect(code).toBe(0)
  expect(err).not.toContain('Debugger')
})

test(
  'a log that cannot be written changes no reply and ends nothing',
  needs('/dev/full', existsSync('/dev/full')),
  async () => {
    const under = ['sh', '-c', 'exec "$@" 2>/dev/full', 'sh']
    const environment = { PLANT_STORE_LOG_LEVEL: 'debug' }
    const server = await startServerProcess({ under, environment })
    for (const path of ['/plants', '/other']) {
      const refused = await fetch(`${server.url}${path}`)
      expect(refused.status).toBe(401)
      expect(await refused.json()).toMatchObject({ error: 40100 })
    }
    expect(await server.client.createPlant({ id: 1, name: 'Fern' })).toEqual({ name: 'Fern' })
    expect((await fetch(`${server.operationsUrl}/nowhere`)).status).toBe(404)
    expect(await server.end()).toMatchObject({ code: 0, signal: null })
  },
)
