import { type ChildProcess, execFileSync, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../test/free-port.ts'

const USER = 'plant_store'
const PASSWORD = 'correct horse'

/** The fastest that Patroni allows, and that a network with short faults bears. */
const SETTINGS = { ttl: 20, loop_wait: 2, retry_timeout: 3, primary_start_timeout: 0 }

interface Node {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly config: string
  patroni?: ChildProcess
}

/** PostgreSQL and Patroni refuse to run as root. */
function findUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const ask = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }))
  return { uid: ask('-u'), gid: ask('-g') }
}

async function ask(node: Node, path: string, body?: object): Promise<Response | undefined> {
  const options = body && { method: 'POST', body: JSON.stringify(body) }
  return fetch(`http://127.0.0.1:${node.restPort}/${path}`, options).catch(() => undefined)
}

/** Waits for a node of which Patroni says that it is `role`. */
async function waitFor(nodes: readonly Node[], role: string): Promise<Node> {
  for (;;) {
    for (const node of nodes) if ((await ask(node, role))?.status === 200) return node
    await sleep(100)
  }
}

/** The postmaster of a node and all that it started. */
function processesOf({ config }: Node): number[] {
  const folder = config.replace(/\.json$/, '')
  const listed = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
  const rows = listed.split('\n').map((line) => line.trim().split(/\s+/))
  const postmasters = rows.filter((row) => row.includes(folder) && row[2]?.endsWith('/postgres'))
  const pids = new Set(postmasters.map(([pid]) => pid))
  return rows
    .filter(([pid, parent]) => pids.has(pid) || pids.has(parent))
    .map(([pid]) => Number(pid))
}

function urlOf(ports: readonly number[], database: string): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return `postgres://${USER}:${encodeURIComponent(PASSWORD)}@${hosts}/${database}`
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended with its parent.
    }
  }
}

/** Two nodes of Patroni over one etcd, with a synchronous standby; needs `patroni` and `etcd`. */
export async function startPatroni() {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-patroni-'))
  const log = openSync(join(folder, 'log'), 'a')
  const as = {
    ...findUser(),
    cwd: folder,
    stdio: ['ignore', log, log] satisfies StdioOptions,
  }
  chmodSync(folder, 0o755)
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid)
  const [client, peer] = [await findFreePort(), await findFreePort()]
  const url = (port: number) => `http://127.0.0.1:${port}`
  const etcd = spawn(
    'etcd',
    [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=${url(client)}`,
      `--advertise-client-urls=${url(client)}`,
      `--listen-peer-urls=${url(peer)}`,
      `--initial-advertise-peer-urls=${url(peer)}`,
      `--initial-cluster=default=${url(peer)}`,
    ],
    as,
  )
  const programs = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim()

  async function makeNode(name: string): Promise<Node> {
    const [port, restPort] = [await findFreePort(), await findFreePort()]
    const config = join(folder, `${name}.json`)
    const at = (where: number) => `127.0.0.1:${where}`
    const own = { listen: at(port), connect_address: at(port), data_dir: join(folder, name) }
    const login = { username: USER, password: PASSWORD }
    const access = ['host all all 127.0.0.1/32 scram-sha-256']
    const authentication = { superuser: login, replication: login, rewind: login }
    const pg_hba = [...access, 'host replication all 127.0.0.1/32 scram-sha-256']
    const pgpass = join(folder, `${name}-passwords`)
    const parameters = { unix_socket_directories: folder, shared_buffers: '32MB' }
    const dcs = { ...SETTINGS, synchronous_mode: true, postgresql: { use_pg_rewind: true } }
    const said = {
      scope: 'plants',
      name,
      restapi: { listen: at(restPort), connect_address: at(restPort) },
      etcd3: { host: at(client) },
      bootstrap: { dcs, initdb: [{ encoding: 'UTF8' }, { locale: 'C' }] },
      postgresql: { ...own, bin_dir: programs, authentication, pg_hba, pgpass, parameters },
    }
    writeFileSync(config, JSON.stringify(said))
    return { name, port, restPort, config }
  }

  const start = (node: Node) => {
    node.patroni = spawn('patroni', [node.config], as)
  }
  const nodes = [await makeNode('one'), await makeNode('other')] as const
  start(nodes[0])
  await waitFor(nodes, 'primary')
  start(nodes[1])
  await waitFor(nodes, 'synchronous')
  return {
    settings: SETTINGS,
    /** The URL with both nodes, for whoever finds the primary. */
    urlOf: (database: string) =>
      `${urlOf(
        nodes.map(({ port }) => port),
        database,
      )}?target_session_attrs=read-write`,
    primaryUrlOf: async (database: string) => {
      const { port } = await waitFor(nodes, 'primary')
      return urlOf([port], database)
    },
    /** The machine of the primary is gone: Patroni and PostgreSQL with it. */
    async loseMachine() {
      const node = await waitFor(nodes, 'primary')
      node.patroni?.kill('SIGKILL')
      killAll(processesOf(node))
    },
    /** The primary crashes, and its Patroni sees that. */
    async crash() {
      killAll(processesOf(await waitFor(nodes, 'primary')))
    },
    async switchOver() {
      const leader = await waitFor(nodes, 'primary')
      const reply = await ask(leader, 'switchover', { leader: leader.name })
      if (reply?.status !== 200) throw new Error(`no switchover: ${await reply?.text()}`)
    },
    /** Starts what was lost; resolves once there is a synchronous standby again. */
    async repair() {
      for (const node of nodes) {
        const { patroni } = node
        if (patroni === undefined || patroni.exitCode !== null || patroni.signalCode !== null)
          start(node)
      }
      await waitFor(nodes, 'synchronous')
    },
    async stop() {
      const ended = nodes.map(({ patroni }) => patroni && once(patroni, 'exit'))
      for (const node of nodes) node.patroni?.kill('SIGKILL')
      await Promise.all(ended)
      for (const node of nodes) killAll(processesOf(node))
      etcd.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
    },
  }
}
