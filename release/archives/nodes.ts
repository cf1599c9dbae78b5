import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, 'nodes')

/** Downloads each Node.js that `nodes/package.json` names, and compares it with the lockfile's digest. */
export function installNodes(): void {
  const args = ['-y', 'pnpm@12.16.0', '--dir', FOLDER, 'install', '--frozen-lockfile']
  execFileSync('npx', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    // Windows starts npx through its shell.
    shell: process.platform === 'win32',
  })
}

/** The path of a file of a package in `nodes/`, which `installNodes` has brought. */
export function fileOfNode(name: string, path: string): string {
  return join(FOLDER, 'node_modules', name, path)
}
