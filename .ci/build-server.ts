import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'

// Builds the server before its command line runs: silent unless it fails, so that all that is
// printed is the command's own.

const child = spawn(
  'turbo',
  ['run', 'build', '--filter=@plant-store/server', '--output-logs=errors-only'],
  { stdio: ['ignore', 'pipe', 'pipe'], shell: process.platform === 'win32' },
)

const printed: Buffer[] = []
child.stdout.on('data', (chunk) => printed.push(chunk))
child.stderr.on('data', (chunk) => printed.push(chunk))

/** A person who waits longer than this sees why, until the build is over. */
const PATIENCE_MS = 1_000

async function showWait(signal: AbortSignal): Promise<void> {
  await sleep(PATIENCE_MS, undefined, { signal })
  process.stderr.write('building …')
  signal.addEventListener('abort', () => process.stderr.write('\r\x1b[K'))
}

const built = new AbortController()
if (process.stderr.isTTY) showWait(built.signal).catch(() => {})

const code = await new Promise<number | null>((resolve) => {
  child.on('error', (error) => {
    printed.push(Buffer.from(`${error.message}\n`))
    resolve(1)
  })
  child.on('close', resolve)
})
built.abort()
if (code !== 0) process.stderr.write(Buffer.concat(printed))
process.exitCode = code ?? 1
