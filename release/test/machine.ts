import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A Debian of its own, with its own systemd as the first process; it shares only the kernel. */
export interface Machine {
  /** Runs a line in a shell as root, and gives its exit code and all that it printed. */
  run(line: string): { readonly status: number | null; readonly text: string }
  /** The same; throws where the exit code is not 0. */
  must(line: string): string
  stop(): Promise<void>
}

const isThere = (program: string, flag = '--version') => spawnSync(program, [flag]).status === 0

/** What makes and starts a Debian, where this process may use it. */
export const CAN_START_MACHINE =
  process.getuid?.() === 0 && isThere('systemd-nspawn') && isThere('mmdebstrap')

/** Makes the folder `root` a Debian with systemd; `packages` are installed too. Downloads 60 MB. */
export function installDebian(root: string, packages: readonly string[]): void {
  const include = ['systemd', ...packages].join()
  const flags = ['--quiet', '--variant=minbase', `--include=${include}`, 'bookworm', root]
  execFileSync('mmdebstrap', flags, { stdio: ['ignore', 'ignore', 'pipe'] })
}

/** The first process of the machine, once there is one. */
function findFirstProcess(container: number | undefined): string | undefined {
  try {
    const threads = readdirSync(`/proc/${container}/task`)
    const children = threads.map((thread) =>
      readFileSync(`/proc/${container}/task/${thread}/children`, 'utf8'),
    )
    const pids = children.join(' ').split(' ').filter(Boolean)
    return pids.find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8') === 'systemd\n')
  } catch {
    return undefined
  }
}

function enter(pid: string, line: string) {
  const { status, stdout } = spawnSync(
    'nsenter',
    ['--target', pid, '--all', 'sh', '-c', `cd /root && { ${line}\n} 2>&1`],
    { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8' } },
  )
  return { status, text: stdout }
}

/** Starts the Debian in a folder, with a network of its own that reaches nothing. */
export async function startMachine(root: string): Promise<Machine> {
  const name = `plant-store-${randomUUID().slice(0, 8)}`
  const flags = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--boot']
  const container = spawn('systemd-nspawn', ['-D', root, '-M', name, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [container.stdout, container.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk
    })
  }
  const ended = new Promise((resolve) => container.on('close', resolve))
  const run = (line: string) => enter(findFirstProcess(container.pid) ?? 'none', line)
  while (run('systemctl is-system-running --wait').text.trim() !== 'running') {
    if (container.exitCode !== null) throw new Error(`the machine ended: ${printed}`)
    await sleep(100)
  }
  return {
    run,
    must(line) {
      const { status, text } = run(line)
      if (status !== 0) throw new Error(`${line} ended with ${status}: ${text}`)
      return text
    },
    async stop() {
      container.kill('SIGTERM')
      await ended
    },
  }
}
