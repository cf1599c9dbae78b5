import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { quoteForShell } from '../../../apps/server/src/text/quote-for-shell.ts'
import type { Service } from '../unit.ts'
import { parseEnvironmentFile } from './environment-file.ts'

/** The build puts it in. */
declare const SERVICE: Service

/** EX_NOPERM of sysexits.h. */
const NO_PERMISSION = 77

/** The server itself, which the bundle has beside this. */
const PROGRAM = './main.js'

const args = process.argv.slice(2)

function readSettings(): Record<string, string> {
  try {
    return parseEnvironmentFile(readFileSync(SERVICE.environmentFile, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}

/** What the service has, but for what the caller of this command gives. */
function environmentOfService(): Record<string, string> {
  const home = { HOME: SERVICE.workingDirectory, USER: SERVICE.user, LOGNAME: SERVICE.user }
  const settings = { ...SERVICE.environment, ...readSettings() }
  // Node takes these beside --permission only, and commands need what the model forbids.
  if (settings.NODE_OPTIONS !== undefined) {
    settings.NODE_OPTIONS = settings.NODE_OPTIONS.replace(/(?:^|\s)--allow-\S+/g, '')
  }
  return { ...settings, ...process.env, ...home } as Record<string, string>
}

/** Makes this process one of the service's user, with its folder, and its environment from the start. */
function becomeService(): void {
  const environment = environmentOfService()
  if (process.getuid?.() === 0) {
    // Known to Node.js, and missing in its types.
    const { initgroups } = process as { initgroups?: (user: string, group: string) => void }
    initgroups?.(SERVICE.user, SERVICE.user)
    process.setgid?.(SERVICE.user)
    process.setuid?.(SERVICE.user)
  }
  process.umask(SERVICE.umask)
  process.chdir(SERVICE.workingDirectory)
  // Node reads some variables only when it starts.
  const isGiven = Object.entries(environment).every(([name, value]) => process.env[name] === value)
  const { argv0, argv, execPath } = process
  if (!isGiven) process.execve?.(execPath, [argv0, argv[1] ?? '', ...args], environment)
}

function refuse(reason: string): never {
  process.stderr.write(`plant-store-server: ${reason}\n`)
  process.exit(NO_PERMISSION)
}

function isOfService(): boolean {
  return process.getuid?.() === 0 || userInfo().username === SERVICE.user
}

/** What anybody may ask, because it reads no store. */
function asksOnly(): boolean {
  const [command = ''] = args
  return (
    ['help', 'openapi'].includes(command) || /^(?:--help|-h|--version)$/.test(args.at(-1) ?? '')
  )
}

// Under the permission model it is the unit that starts this, with all of it done.
if (process.permission === undefined && isOfService()) {
  try {
    becomeService()
  } catch (error) {
    refuse(`cannot run as ${SERVICE.user} does: ${(error as Error).message}`)
  }
} else if (process.permission === undefined && !asksOnly()) {
  const again = ['sudo plant-store-server', ...args.map(quoteForShell)].join(' ')
  refuse(`only root and ${SERVICE.user} may use the store of this machine. Try: ${again}`)
}
await import(PROGRAM)
