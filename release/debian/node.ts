import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Node } from './tree.ts'

const NODES = join(import.meta.dirname, '../archives/nodes')

/**
 * The Node.js of the package for a platform, such as `linux-x64`.
 *
 * @throws if it is not installed
 */
export function readNode(platform: string): Node {
  const folder = join(NODES, 'node_modules', `node-26-${platform}`)
  if (!existsSync(folder)) throw new Error(`install it first: pnpm --dir ${NODES} install`)
  return { binary: join(folder, 'bin/node'), licence: join(folder, 'LICENSE') }
}
