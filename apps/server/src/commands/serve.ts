import { setTimeout as sleep } from 'node:timers/promises'
import { aborted } from 'node:util'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { openAuthenticate } from '../auth/authenticate.ts'
import { type Config, type Flags, loadConfig } from '../config/config.ts'
import { environmentNameOf } from '../config/settings.ts'
import { openStore } from '../engines.ts'
import type { RunningServer } from '../http/server.ts'
import { build } from '../process/build.ts'
import { within } from '../process/within.ts'
import type { Store } from '../store/store.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'
import { addSettingFlags } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import { openFirstToken } from './first-token.ts'
import { formatGreeting } from './greeting.ts'
import type { Terminal } from './terminal.ts'
import { watchTokens } from './watch-tokens.ts'

/** How long the last commit may take when nobody waits for its response any more. */
const STORE_CLOSE_LIMIT_MS = 2_000

/** What is open, in the order in which it was opened; the rest of a start that failed is missing. */
interface Opened {
  readonly telemetry: Telemetry
  store?: Store
  server?: RunningServer
}

/** The last resort: after an exception that nothing contained, the state of the process is unknown. */
function endOnException(log: Logger): () => void {
  const end = (err: unknown) => {
    log.fatal({ err, exitCode: exitCodes.failure }, 'stopped by an exception')
    process.exit(exitCodes.failure)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

/** @throws CommandError when it cannot listen where it should. */
async function listen(
  config: Config,
  telemetry: Telemetry,
  store: Store,
  stop: AbortSignal,
): Promise<RunningServer> {
  // Loaded here, because the other commands need no server and start in half the time without it.
  const { startServer } = await import('../http/server.ts')
  const { log, metrics } = telemetry
  const parts = { log, stop, observer: metrics }
  const authenticate = await openAuthenticate(store.tokens, config, parts)
  try {
    return await startServer(config, store, { ...telemetry, authenticate })
  } catch (error) {
    const { syscall, host, port, code } = Object(error)
    if (syscall === undefined) throw error
    const message = `cannot listen on host ${host}, port ${port}: ${code}`
    const fix = `another one in ${environmentNameOf('listen')} or ${environmentNameOf('operationsListen')}`
    throw new CommandError(message, exitCodes.unavailable, { cause: error, fix })
  }
}

/** The one closing order: callers, then the store, then the last spans. */
async function close(
  { telemetry, store, server }: Opened,
  { shutdownDelayMs }: Config,
  { stop, err }: Terminal,
  failure: Error | undefined,
): Promise<void> {
  if (server !== undefined) {
    telemetry.log.info({ reason: failure?.message ?? stop.reason }, 'draining')
    server.announceClose()
    const delay = sleep(shutdownDelayMs, undefined, { ref: false })
    if (failure === undefined) await Promise.race([store?.failure, delay])
    await server.close()
  }
  const closed = store?.close().then(() => true)
  if (closed !== undefined && !(await within(STORE_CLOSE_LIMIT_MS, closed, false))) {
    err(
      'plant-store-server: the database did not answer in time; no create that waited for it was answered 200\n',
    )
  }
  await telemetry.stop()
}

/** What to say of a store without plants, which may be another one than was meant; else undefined. */
async function describeEmpty(store: Store): Promise<string | undefined> {
  if ((await store.countPlants(1)) > 0) return undefined
  const { createdAt } = await store.measure()
  return `0 plants, new since ${new Date(createdAt).toISOString()}`
}

/** Serves until a signal ends it or the store fails. */
async function serve(config: Config, terminal: Terminal): Promise<void> {
  const { startTelemetry } = await import('../telemetry/telemetry.ts')
  const telemetry = await startTelemetry(config)
  const { log, metrics } = telemetry
  const forgetExceptions = endOnException(log)
  terminal.onLogSignal(telemetry.switchLogLevel)
  const opened: Opened = { telemetry }
  let failure: Error | undefined
  try {
    const store = await openStore({ ...config, observer: metrics?.store })
    opened.store = store
    void store.failure.then((error) => {
      failure = error
    })
    metrics?.measureStore(store)
    // Throws the reason where the store knows it.
    await store.isReady()
    const empty = await describeEmpty(store)
    const issueFirstToken = await openFirstToken(store, config)
    const server = await listen(config, telemetry, store, terminal.stop)
    opened.server = server
    const token = await issueFirstToken?.()
    const said = { description: store.description, empty, token: token?.text }
    // Before the log's first line: a person who starts it reads this.
    terminal.out(formatGreeting(config, server, said))
    if (token !== undefined) log.info(token.audited, 'made the first token')
    const { url, operationsUrl } = server
    const about = { ...build, pid: process.pid, store: store.description, empty }
    log.info({ url, operationsUrl, ...about }, 'listening')
    const { openFile } = config
    if (openFile !== undefined) {
      const fix = `chmod 600 ${openFile}`
      log.warn({ openFile, fix }, 'others may read or change the database URL')
    }
    watchTokens(store.tokens, log, metrics?.tokens, terminal.stop)
    await Promise.race([store.failure, aborted(terminal.stop, terminal)])
  } catch (error) {
    failure = error as Error
    throw error
  } finally {
    await close(opened, config, terminal, failure)
    forgetExceptions()
  }
  reportEnd(log, terminal.stop, failure)
}

/** @throws CommandError where the store failed. */
function reportEnd(log: Logger, { reason }: AbortSignal, failure: Error | undefined): void {
  if (failure === undefined) {
    log.info({ reason, exitCode: exitCodes.ok }, 'stopped')
    return
  }
  log.fatal({ err: failure, exitCode: exitCodes.ioError }, 'stopped')
  const message = `${failure.message}. Nothing more is stored until a restart has recovered the database.`
  throw new CommandError(message, exitCodes.ioError, { cause: failure })
}

/** `serve`, the command when none is named. */
export function addServeCommand(program: Command, terminal: Terminal): void {
  addSettingFlags(program.command('serve', { isDefault: true }))
    .description('serve plants over HTTP (the default)')
    .allowExcessArguments()
    .action((flags: Flags) => serve(loadConfig(flags), terminal))
}
