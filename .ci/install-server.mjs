import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

// Installs what the server of a clone needs, and nothing for its tests, unless that is done. Plain
// JavaScript, because the Node.js of the machine runs it: the project's own comes with the install.

const changedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Where everything is installed, everything is renewed: pnpm would remove the rest. */
const isWhole = existsSync('node_modules/turbo')

// What is locked was checked when it was committed; asking the registry about it again takes longer
// than the installation.
const needed = [
  ...['plant-store', '@plant-store/server...', '@plant-store/examples...'].map(
    (name) => `--filter=${name}`,
  ),
  '--prod',
  '--config.minimum-release-age=0',
  '--config.trust-policy=off',
  '--config.side-effects-cache=false',
]

if (changedAt('pnpm-lock.yaml') > changedAt('node_modules/.pnpm-workspace-state-v1.json')) {
  process.stderr.write('Installing what the server needs, which is done once …\n')
  const { status } = spawnSync(
    'pnpm',
    ['install', '--frozen-lockfile', ...(isWhole ? [] : needed)],
    { stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' },
  )
  process.exitCode = status ?? 1
}
