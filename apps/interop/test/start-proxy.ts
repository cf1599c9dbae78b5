import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createCertificate } from '../../../test/certificate.ts'
import { findFreePort } from '../../../test/free-port.ts'
import { needs } from '../../../test/needs.ts'
import { readRoot } from '../../../test/root.ts'
import type { ServerProcess } from '../../../test/server-process.ts'
import { temporaryFolder } from '../../../test/temporary-folder.ts'

/** Where Debian has nginx and HAProxy, which not every user's PATH holds. */
const PATH = `${process.env.PATH}:/usr/sbin`

/** Where nginx as Debian builds it would write into folders of root's. */
const NGINX_PATHS = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

interface Recipe {
  /** Its file in operations/proxies, and what runs it with a file. */
  readonly file: string
  readonly command: readonly [program: string, ...args: string[]]
  /** What stands in the place of the shipped port, server, operations port and folders. */
  edits(port: number, server: string, operations: string, folder: string): [RegExp, string][]
}

const recipes = {
  nginx: {
    file: 'nginx.conf',
    command: ['nginx', '-e', 'stderr', '-g', 'daemon off;', '-c'],
    edits: (port, server, _operations, folder) => [
      [/listen 443 ssl/, `listen 127.0.0.1:${port} ssl`],
      [/^ +listen \[::\]:443.*$/m, ''],
      [/server 127.0.0.1:3000/, `server ${server}`],
      [/\/(?:var\/log|etc)\/nginx\/|\/run\//g, `${folder}/`],
      [
        /http \{/,
        `http {\n${NGINX_PATHS.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}`,
      ],
    ],
  },
  HAProxy: {
    file: 'haproxy.cfg',
    command: ['haproxy', '-f'],
    edits: (port, server, operations, folder) => [
      [/bind :443/, `bind 127.0.0.1:${port}`],
      [/^ +bind \[::\]:443.*$/m, ''],
      [/first 127.0.0.1:3000/, `first ${server}`],
      [/check port 3001/, `check port ${operations}`],
      [/\/etc\/haproxy\//g, `${folder}/`],
      [process.getuid?.() === 0 ? /$^/ : /^ +(?:chroot|user|group) .*$/gm, ''],
    ],
  },
  Caddy: {
    file: 'Caddyfile',
    command: ['caddy', 'run', '--adapter', 'caddyfile', '--config'],
    edits: (port, server, operations, folder) => [
      [/plants.example:443/, `127.0.0.1:${port}`],
      [/^:443/m, `:${port}`],
      [/127.0.0.1:3000/, server],
      [/health_port 3001/, `health_port ${operations}`],
      [/\/etc\/caddy\//g, `${folder}/`],
    ],
  },
} satisfies Record<string, Recipe>

export type ProxyName = keyof typeof recipes

export const PROXIES = Object.keys(recipes) as ProxyName[]

const find = 'command -v nginx && command -v haproxy && command -v caddy && command -v openssl'

/** Debian's packages; without one of them what needs it is skipped, and CI fails for that. */
export const needsProxies = needs(
  'nginx, haproxy, caddy and openssl',
  spawnSync('sh', ['-c', find], { env: { PATH } }).status === 0,
)

/** Starts a proxy as it is shipped before a server; it ends with the test. Gives its port. */
export async function startProxy(name: ProxyName, server: ServerProcess): Promise<number> {
  const folder = temporaryFolder()
  // Workers of another user write their temporary files below it.
  chmodSync(folder, 0o711)
  const port = await findFreePort()
  const { cert, key } = createCertificate()
  writeFileSync(join(folder, 'plants.crt'), cert)
  writeFileSync(join(folder, 'plants.key'), key)
  writeFileSync(join(folder, 'plants.pem'), cert + key)
  const { file, command, edits }: Recipe = recipes[name]
  const operations = new URL(server.operationsUrl).port
  const config = edits(port, new URL(server.url).host, operations, folder).reduce(
    (text, [from, to]) => text.replace(from, to),
    readRoot(`operations/proxies/${file}`),
  )
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
