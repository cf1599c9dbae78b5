import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { findFreePort } from '../free-port.ts'
import { createCertificate } from '../postgres/certificate.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The configurations that operators are given. */
const CONFIGURATIONS = join(import.meta.dirname, '../../../../operations/proxies')

const START_LIMIT_MS = 20_000

/** Where Debian has nginx and HAProxy, which not every user's PATH holds. */
const PATH = `${process.env.PATH}:/usr/sbin`

/** Debian's packages; without one of them what needs it is skipped, and CI fails for that. */
export const needsProxies = needs(
  'nginx, haproxy, caddy and curl',
  [
    ['nginx', '-v'],
    ['haproxy', '-v'],
    ['caddy', 'version'],
    ['curl', '--version'],
  ].every(([program = '', ...args]) => spawnSync(program, args, { env: { PATH } }).status === 0),
)

/** A proxy with its shipped configuration; `nginx, unbuffered` has its one documented variant. */
export type ProxyName = 'nginx' | 'nginx, unbuffered' | 'HAProxy' | 'Caddy'

export const PROXIES: readonly ProxyName[] = ['nginx', 'nginx, unbuffered', 'HAProxy', 'Caddy']

interface Places {
  readonly folder: string
  readonly port: number
  /** Of each server, as `host:port`. */
  readonly servers: readonly string[]
  /** The port of the operations listener. */
  readonly operationsPort: string
}

interface Recipe {
  readonly file: string
  /** Puts ports, paths and certificates of this machine in the place of the shipped ones. */
  readonly place: (text: string, places: Places) => string
  readonly command: (config: string) => string[]
}

const isRoot = process.getuid?.() === 0

/** Where nginx as Debian builds it would write into folders of root's. */
const NGINX_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

const nginx: Recipe = {
  file: 'nginx.conf',
  place: (text, { folder, port, servers: [first = '', second] }) =>
    text
      .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
      .replace(/^ +listen \[::\]:443.*$/m, '')
      .replace('server 127.0.0.1:3000', `server ${first}`)
      .replace('# server 127.0.0.2:3000', second === undefined ? '#' : `server ${second}`)
      .replaceAll(/\/(?:var\/log|etc)\/nginx\/|\/run\//g, `${folder}/`)
      .replace(
        'http {',
        ['http {', ...NGINX_PATHS.map((name) => `${name}_temp_path ${folder}/${name};`)].join('\n'),
      ),
  command: (config) => ['nginx', '-e', 'stderr', '-c', config, '-g', 'daemon off;'],
}

const haproxy: Recipe = {
  file: 'haproxy.cfg',
  place: (text, { folder, port, servers: [first = '', second], operationsPort }) =>
    text
      .replace('bind :443', `bind 127.0.0.1:${port}`)
      .replace(/^ +bind \[::\]:443.*$/m, '')
      .replace('first 127.0.0.1:3000', `first ${first}`)
      .replace(
        '# server second 127.0.0.2:3000',
        second === undefined ? '' : `server second ${second}`,
      )
      .replace('check port 3001', `check port ${operationsPort}`)
      .replaceAll('/etc/haproxy/', `${folder}/`)
      .replace(isRoot ? /$^/ : /^ +(?:chroot|user|group) .*$/gm, ''),
  command: (config) => ['haproxy', '-f', config],
}

const caddy: Recipe = {
  file: 'Caddyfile',
  place: (text, { folder, port, servers, operationsPort }) =>
    text
      .replace('plants.example:443', `127.0.0.1:${port}`)
      .replace(/^:443/m, `:${port}`)
      .replace('127.0.0.1:3000', servers.join(' '))
      .replace('health_port 3001', `health_port ${operationsPort}`)
      .replaceAll('/etc/caddy/', `${folder}/`),
  command: (config) => ['caddy', 'run', '--adapter', 'caddyfile', '--config', config],
}

const RECIPES: Record<ProxyName, Recipe> = {
  nginx,
  'nginx, unbuffered': {
    ...nginx,
    place: (text, places) =>
      nginx
        .place(text, places)
        .replace('proxy_request_buffering on', 'proxy_request_buffering off'),
  },
  HAProxy: haproxy,
  Caddy: caddy,
}

export interface RunningProxy {
  readonly url: string
  readonly port: number
}

async function untilItListens(child: ChildProcess, port: number, output: () => string) {
  const deadline = performance.now() + START_LIMIT_MS
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (isOpen) return
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`the proxy does not listen: ${output()}`)
    }
    await sleep(20)
  }
}

function writeConfiguration({ file, place }: Recipe, places: Places): string {
  const { folder } = places
  const { certificate, key } = createCertificate()
  writeFileSync(join(folder, 'plants.crt'), certificate)
  writeFileSync(join(folder, 'plants.key'), key)
  writeFileSync(join(folder, 'plants.pem'), certificate + key)
  const path = join(folder, file)
  writeFileSync(path, place(readFileSync(join(CONFIGURATIONS, file), 'utf8'), places))
  return path
}

/** Starts a proxy before servers, given by their addresses; it ends with the test. */
export async function startProxy(
  name: ProxyName,
  serverUrls: readonly string[],
  operationsUrl: string,
): Promise<RunningProxy> {
  const folder = temporaryFolder()
  // Workers of another user write their temporary files below it.
  chmodSync(folder, 0o711)
  const port = await findFreePort()
  const recipe = RECIPES[name]
  const servers = serverUrls.map((url) => new URL(url).host)
  const operationsPort = new URL(operationsUrl).port
  const config = writeConfiguration(recipe, { folder, port, servers, operationsPort })
  const [program = '', ...args] = recipe.command(config)
  const child = spawn(program, args, {
    env: { PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      text += chunk
    })
  }
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await untilItListens(child, port, () => text)
  return { url: `https://127.0.0.1:${port}`, port }
}
