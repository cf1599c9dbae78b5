import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { isUsable } from '../auth/authenticate.ts'
import { engineOf, openStore } from '../engines/engines.ts'
import type { Address } from '../http/listener.ts'
import type { Telemetry } from '../operations/telemetry.ts'
import { build } from '../process/build.ts'
import { openAuthenticate, takesJwt } from '../service/open-authenticate.ts'
import type { RunningServer } from '../service/server.ts'
import {
  type Config,
  describeUnknownArguments,
  type Flags,
  loadConfig,
} from '../settings/config.ts'
import { environmentNameOf, type SettingName, settings } from '../settings/settings.ts'
import { joinObservers } from '../store/observer.ts'
import type { Store } from '../store/store.ts'
import { printableLine } from '../text/printable.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal } from './command.ts'
import { type FirstToken, openFirstToken } from './first-token.ts'

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|::1)$/

/**
 * Whether a stranger starts a new store on this machine and needs a token; not where a usable token
 * exists, or an issuer's JWTs open the service.
 * @throws CommandError for a server that could let nobody in.
 */
async function needsFirstToken(store: Store, config: Config): Promise<boolean> {
  if (takesJwt(config)) return false
  const tokens = await store.tokens.list()
  if (tokens.some((token) => isUsable(token, Date.now()))) return false
  const isFirstRun = tokens.length === 0 && (await store.isEmpty())
  if (isFirstRun && !config.isProduction && LOOPBACK.test(config.listen.host)) return true
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
  { docs }: Config,
  token: string | undefined,
): void {
  const page = docs ? `Try it in a browser: ${url}/docs\n` : ''
  const health = operationsUrl
    ? `Health: ${operationsUrl}/livez and ${operationsUrl}/readyz; metrics: ${operationsUrl}/metrics\n`
    : ''
  const firstPlant =
    token === undefined
      ? ''
      : `\nYour token, shown this once:\n\n  ${token}\n\nStore a plant:\n\n` +
        `  curl -i -w '\\n' ${url}/plants -H 'authorization: Bearer ${token}' ` +
        `-H 'content-type: application/json' -d '{"id":1,"name":"Fern","tag":"indoor"}'\n\n`
  terminal.out(
    `Plant Store listens on ${url}\n${page}${health}200 means durable: ${printableLine(store.description)}\n${firstPlant}`,
  )
}

function describeListenError(error: NodeJS.ErrnoException & Partial<Address>): string {
  return (
    `cannot listen on host ${error.host}, port ${error.port}: ${error.code}. Choose another with ` +
    `${environmentNameOf('listen')} or ${environmentNameOf('operationsListen')}`
  )
}

async function start(
  store: Store,
  config: Config,
  { log, metrics, tracing }: Telemetry,
  stop: AbortSignal,
): Promise<RunningServer> {
  // Loaded here, because the other commands need no server and start in half the time without.
  const { startServer } = await import('../service/server.ts')
  const authenticate = await openAuthenticate(store.tokens, config, {
    log,
    stop,
    observer: metrics,
  })
  try {
    return await startServer({
      ...config,
      log,
      metrics,
      store: tracing ? { ...store, plants: tracing.traceCreates(store.plants) } : store,
      authenticate: tracing?.traceCredentials(authenticate) ?? authenticate,
      traceRequest: tracing?.traceRequest,
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new CommandError(describeListenError(error as Error), exitCodes.unavailable, {
      cause: error,
    })
  }
}

/** Once it listens, because a token that a failed start has made would never be shown. */
async function issue(
  firstToken: FirstToken | undefined,
  store: Store,
  server: RunningServer,
): Promise<string | undefined> {
  try {
    return await firstToken?.issue(store)
  } catch (error) {
    await server.close()
    throw error
  } finally {
    firstToken?.close()
  }
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** How long the last commit may take once nobody waits for its reply any more. */
const STORE_CLOSE_LIMIT_MS = 2_000

async function closeStore(store: Store, terminal: Terminal): Promise<void> {
  const { isDoneWithin } = await import('../operations/telemetry.ts')
  if (await isDoneWithin(STORE_CLOSE_LIMIT_MS, store.close())) return
  terminal.err(
    'plant-store-server: the database did not answer in time; what waited for it was not answered 200\n',
  )
}

/** Once, because somebody may share a store with a group on purpose. */
function warnOfWideModes({ databaseUrl }: Config, log: Logger): void {
  const wide = engineOf(databaseUrl).findWideModes()
  if (wide.length === 0) return
  const modes = wide.map(({ path, mode }) => `${mode} ${path}`)
  log.warn({ modes }, 'other users can read or change the store; doctor says what to do')
}

/** Serves until it is asked to end or the store fails. */
async function serveStore(
  store: Store,
  config: Config,
  terminal: Terminal,
  telemetry: Telemetry,
): Promise<void> {
  const { log, metrics } = telemetry
  metrics?.watchStore(store)
  // Throws the reason, where it can be told.
  await store.isReady()
  const isFirst = await needsFirstToken(store, config)
  const firstToken = isFirst ? openFirstToken(config, log) : undefined
  const server = await start(store, config, telemetry, terminal.stop)
  const token = await issue(firstToken, store, server)
  greet(terminal, store, server, config, token)
  const { url, operationsUrl } = server
  const about = { ...build, pid: process.pid, store: store.description }
  log.info({ url, operationsUrl, ...about }, 'listening')
  warnOfWideModes(config, log)
  const failure = await Promise.race([store.failure, aborted(terminal.stop)])
  log.info({ reason: failure?.message ?? terminal.stop.reason }, 'draining')
  server.announceClose()
  const delay = sleep(config.shutdownDelayMs, undefined, { ref: false })
  if (failure === undefined) await Promise.race([store.failure, delay])
  await server.close()
}

/** The last resort: after what nothing has contained, nobody knows what the process would do. */
function endOnException({ log }: Telemetry): () => void {
  const end = (err: unknown) => {
    log.fatal({ err, exitCode: exitCodes.failure }, 'stopped by an exception')
    process.exit(exitCodes.failure)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

async function serve(config: Config, terminal: Terminal): Promise<void> {
  const { startTelemetry, stopTelemetry } = await import('../operations/telemetry.ts')
  const telemetry = await startTelemetry(config)
  const forgetExceptions = endOnException(telemetry)
  terminal.onLogSignal(telemetry.switchLogLevel)
  const observer = joinObservers(telemetry.metrics?.store, telemetry.tracing?.observer)
  const store = await openStore({ ...config, observer })
  let failure: Error | undefined
  store.failure.then((error) => {
    failure = error
  })
  try {
    await serveStore(store, config, terminal, telemetry)
  } finally {
    await closeStore(store, terminal)
    await stopTelemetry(telemetry)
    forgetExceptions()
  }
  if (failure === undefined) {
    telemetry.log.info({ reason: terminal.stop.reason, exitCode: exitCodes.ok }, 'stopped')
    return
  }
  telemetry.log.fatal({ err: failure, exitCode: exitCodes.ioError }, 'stopped')
  throw new CommandError(
    `${failure.message}. Nothing more is stored until a restart has recovered the database.`,
    exitCodes.ioError,
    { cause: failure },
  )
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
