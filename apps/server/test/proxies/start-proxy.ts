import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { createCertificate } from '../certificate.ts'
import { findFreePort } from '../free-port.ts'
import type { ServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The configurations that operators are given. */
const CONFIGURATIONS = join(import.meta.dirname, '../../../../operations/proxies')

/** Where Debian has nginx and HAProxy, which not every user's PATH holds. */
const PATH = `${process.env.PATH}:/usr/sbin`

/** Where nginx as Debian builds it would write into folders of root's. */
const NGINX_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

interface Recipe {
  readonly file: string
  readonly version: string
  readonly command: readonly [program: string, ...args: string[]]
  /** What stands in the place of the shipped port, server, operations port and folders. */
  edits(port: number, server: string, operations: string, folder: string): [RegExp, string][]
}

const nginx: Recipe = {
  file: 'nginx.conf',
  version: '-v',
  command: ['nginx', '-e', 'stderr', '-g', 'daemon off;', '-c'],
  edits: (port, server, _operations, folder) => [
    [/listen 443 ssl/, `listen 127.0.0.1:${port} ssl`],
    [/^ +listen \[::\]:443.*$/m, ''],
    [/server 127.0.0.1:3000/, `server ${server}`],
    [/\/(?:var\/log|etc)\/nginx\/|\/run\//g, `${folder}/`],
    ...NGINX_PATHS.map((name): [RegExp, string] => [
      /http \{/,
      `http {\n${name}_temp_path ${folder}/${name};`,
    ]),
  ],
}

const haproxy: Recipe = {
  file: 'haproxy.cfg',
  version: '-v',
  command: ['haproxy', '-f'],
  edits: (port, server, operations, folder) => [
    [/bind :443/, `bind 127.0.0.1:${port}`],
    [/^ +bind \[::\]:443.*$/m, ''],
    [/first 127.0.0.1:3000/, `first ${server}`],
    [/check port 3001/, `check port ${operations}`],
    [/\/etc\/haproxy\//g, `${folder}/`],
    [process.getuid?.() === 0 ? /$^/ : /^ +(?:chroot|user|group) .*$/gm, ''],
  ],
}

const caddy: Recipe = {
  file: 'Caddyfile',
  version: 'version',
  command: ['caddy', 'run', '--adapter', 'caddyfile', '--config'],
  edits: (port, server, operations, folder) => [
    [/plants.example:443/, `127.0.0.1:${port}`],
    [/^:443/m, `:${port}`],
    [/127.0.0.1:3000/, server],
    [/health_port 3001/, `health_port ${operations}`],
    [/\/etc\/caddy\//g, `${folder}/`],
  ],
}

const recipes = { nginx, HAProxy: haproxy, Caddy: caddy }

export type ProxyName = keyof typeof recipes

export const PROXIES = Object.keys(recipes) as ProxyName[]

/** Debian's packages; without one of them what needs it is skipped, and CI fails for that. */
export const needsProxies = needs(
  'nginx, haproxy and caddy',
  Object.values(recipes).every(
    ({ command: [program], version }) =>
      spawnSync(program, [version], { env: { PATH } }).status === 0,
  ),
)

/** Starts a proxy as it is shipped before a server; it ends with the test. Gives its port. */
export async function startProxy(name: ProxyName, server: ServerProcess): Promise<number> {
  const folder = temporaryFolder()
  // Workers of another user write their temporary files below it.
  chmodSync(folder, 0o711)
  const port = await findFreePort()
  const { certificate, key } = createCertificate()
  writeFileSync(join(folder, 'plants.crt'), certificate)
  writeFileSync(join(folder, 'plants.key'), key)
  writeFileSync(join(folder, 'plants.pem'), certificate + key)
  const { file, command, edits } = recipes[name]
  const shipped = readFileSync(join(CONFIGURATIONS, file), 'utf8')
  const operations = new URL(server.operationsUrl).port
  const placed = edits(port, new URL(server.url).host, operations, folder)
  const config = placed.reduce((text, [from, to]) => text.replace(from, to), shipped)
  writeFileSync(join(folder, file), config)
  const [program, ...args] = command
  const options = { env: { PATH, HOME: folder }, stdio: 'ignore' } as const
  const child = spawn(program, [...args, join(folder, file)], options)
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  return port
}
