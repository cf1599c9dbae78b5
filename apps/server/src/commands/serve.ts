import type { Command } from 'commander'
import { isUsable } from '../auth/authenticate.ts'
import { DEFAULT_LIFETIME_MS, issueToken } from '../auth/issue-token.ts'
import { openAuthenticate, takesJwt } from '../auth/open-authenticate.ts'
import { type Config, describeUnknownArguments, type Flags, loadConfig } from '../config.ts'
import type { RunningServer } from '../server.ts'
import { environmentNameOf, type SettingName, settings } from '../settings.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal } from './command.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/

/**
 * A token to print where a stranger starts a new store on this machine; undefined where a usable
 * token exists, or an issuer's JWTs open the service.
 * @throws CommandError for a server that could let nobody in.
 */
async function issueFirstToken(store: Store, config: Config): Promise<string | undefined> {
  if (takesJwt(config)) return undefined
  const tokens = await store.tokens.list()
  if (tokens.some((token) => isUsable(token, Date.now()))) return undefined
  const isFirstRun = tokens.length === 0 && (await store.isEmpty())
  if (isFirstRun && !config.isProduction && LOOPBACK.test(config.listen.host)) {
    return (await issueToken(store, 'first-run', DEFAULT_LIFETIME_MS)).text
  }
  throw new CommandError(
    'there is no token that could open the service. Make one, and start again:\n' +
      '  plant-store-server token create --name NAME   (in a clone: pnpm server token create --name NAME)',
    exitCodes.config,
  )
}

function greet(
  terminal: Terminal,
  store: Store,
  { url, operationsUrl }: RunningServer,
  token: string | undefined,
): void {
  const health = operationsUrl ? `Health: ${operationsUrl}/livez and ${operationsUrl}/readyz\n` : ''
  const firstPlant =
    token === undefined
      ? ''
      : `\nYour token, shown this once:\n\n  ${token}\n\nStore a plant:\n\n` +
        `  curl -i -w '\\n' ${url}/plants -H 'authorization: Bearer ${token}' ` +
        `-H 'content-type: application/json' -d '{"id":1,"name":"Fern","tag":"indoor"}'\n\n`
  terminal.out(
    `Plant Store listens on ${url}\n${health}200 means durable: ${store.description}\n${firstPlant}`,
  )
}

function describeListenError(error: NodeJS.ErrnoException & { port?: number }): string {
  return (
    `cannot listen on port ${error.port}: ${error.code}. Choose another with ` +
    `${environmentNameOf('listen')} or ${environmentNameOf('operationsListen')}`
  )
}

async function start(store: Store, config: Config, stop: AbortSignal): Promise<RunningServer> {
  // Loaded here, because the other commands need no server and start in half the time without.
  const [{ startServer }, { createLog }] = await Promise.all([
    import('../server.ts'),
    import('../operations/log.ts'),
  ])
  const log = createLog(config.logLevel)
  const authenticate = await openAuthenticate(store.tokens, config, { log, stop })
  try {
    return await startServer({ ...config, store, authenticate, log })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new CommandError(describeListenError(error as Error), exitCodes.unavailable, {
      cause: error,
    })
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

async function serve(config: Config, terminal: Terminal): Promise<void> {
  const store = await openStore(config)
  let failure: Error | undefined
  const failed = store.failure.then((error) => {
    failure = error
  })
  try {
    const token = await issueFirstToken(store, config)
    const server = await start(store, config, terminal.stop)
    greet(terminal, store, server, token)
    await Promise.race([failed, aborted(terminal.stop)])
    await server.close()
  } finally {
    await store.close()
  }
  if (failure !== undefined) {
    throw new CommandError(
      `${failure.message}. Nothing more is stored until a restart has recovered the database.`,
      exitCodes.ioError,
      { cause: failure },
    )
  }
}

/** `serve`, the command when none is named. */
export function addServeCommand(program: Command, terminal: Terminal): void {
  const names = Object.keys(settings) as SettingName[]
  addSettingFlags(program.command('serve', { isDefault: true }), names)
    .description('serve plants over HTTP (the default)')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((flags: Flags, command: Command) => {
      const commands = program.commands.map((other) => other.name())
      const problems = describeUnknownArguments(command.args, commands)
      return serve(loadConfig(flags, problems), terminal)
    })
}
