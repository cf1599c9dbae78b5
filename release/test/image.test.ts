import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { writeContext } from '../image.ts'

const NAME = `plant-store-${randomUUID().slice(0, 8)}`
const PLANT = '{"id":9223372036854775807,"name":"Fern"}'
const HARDENED = [
  '--read-only',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--pids-limit=64',
]

const podman = (...args: readonly string[]) =>
  execFileSync('podman', args, { encoding: 'utf8', stdio: 'pipe' })

describe.skipIf(spawnSync('podman', ['info']).status !== 0)('the image', () => {
  const context = temporaryFolder(afterAll)

  beforeAll(async () => {
    await writeContext(context, '1.2.3')
    podman('build', '--format=docker', `--tag=${NAME}`, context)
  })
  afterAll(() => {
    spawnSync('podman', ['rm', '--force', NAME])
    spawnSync('podman', ['volume', 'rm', NAME])
    spawnSync('podman', ['rmi', '--force', NAME])
  })

  test('keeps a plant over a kill, with a root that is only read, and tells its health', async () => {
    const data = ['--network=none', `--volume=${NAME}:/var/lib/plant-store`]
    const made = podman('run', '--rm', ...data, NAME, 'token', 'create', '--name', 'test')
    const token = /^plant_\S+$/m.exec(made)?.[0]
    const ask = (script: string) => podman('exec', NAME, 'node', '-e', script).trim()
    const store = () =>
      ask(`fetch('http://127.0.0.1:3000/plants', { method: 'POST', body: '${PLANT}',
        headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' } })
        .then(({ status, headers }) => console.log(status, headers.get('idempotent-replayed')))`)
    const isHealthy = () => spawnSync('podman', ['healthcheck', 'run', NAME]).status === 0

    podman('run', '--detach', `--name=${NAME}`, ...HARDENED, ...data, NAME)
    while (!isHealthy()) await sleep(200)
    expect(store()).toBe('200 null')
    podman('kill', '--signal=KILL', NAME)
    expect(isHealthy()).toBe(false)
    podman('start', NAME)
    while (!isHealthy()) await sleep(200)
    expect(store()).toBe('200 true')
    expect(ask('console.log(process.getuid())')).toBe('10001')
  })
})
