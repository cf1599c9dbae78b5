import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { takesJwt } from '../../auth/authenticate.ts'
import { type Config, type Flags, loadConfig } from '../../config/config.ts'
import { describeUnknownArguments } from '../../config/unknown-names.ts'
import { engineOf, openStore } from '../../engines.ts'
import type { RunningServer } from '../../http/server.ts'
import { build } from '../../process/build.ts'
import { within } from '../../process/within.ts'
import type { Store } from '../../store/store.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { addAllSettingFlags } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import type { Terminal } from '../terminal.ts'
import { type FirstToken, openFirstToken } from './first-token.ts'
import { formatGreeting } from './greeting.ts'
import { start } from './start.ts'
import { watchTokens } from './watch-tokens.ts'

/** After the start, because nobody would see the token of a failed one. */
async function issue(
  firstToken: FirstToken | undefined,
  server: RunningServer,
): Promise<string | undefined> {
  try {
    return await firstToken?.issue()
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

/** How long the last commit may take when nobody waits for its reply any more. */
const STORE_CLOSE_LIMIT_MS = 2_000

async function closeStore(store: Store, terminal: Terminal): Promise<void> {
  const closed = store.close().then(() => true)
  if (await within(STORE_CLOSE_LIMIT_MS, closed, false)) return
  terminal.err(
    'plant-store-server: the database did not answer in time; no create that waited for it was answered 200\n',
  )
}

/** A warning and not an error, because somebody may share a store with a group on purpose. */
function warnOfWideModes({ databaseUrl }: Config, log: Logger): void {
  const wide = engineOf(databaseUrl).findWideModes()
  if (wide.length === 0) return
  const modes = wide.map(({ path, mode }) => `${mode} ${path}`)
  const fixes = wide.map(({ fix }) => fix)
  log.warn({ modes, fixes }, 'other users can read or change the store')
}

/** Serves until a signal ends it or the store fails. */
async function serveStore(
  store: Store,
  config: Config,
  terminal: Terminal,
  telemetry: Telemetry,
): Promise<void> {
  const { log, metrics } = telemetry
  metrics?.measureStore(store)
  // Throws the reason where the store knows it.
  await store.isReady()
  const firstToken = await openFirstToken(store, config, log)
  const parts = { ...telemetry, store, stop: terminal.stop }
  const server = await start(config, parts)
  const token = await issue(firstToken, server)
  const { description } = store
  const { url, operationsUrl } = server
  terminal.out(
    formatGreeting({
      url,
      operationsUrl,
      store: description,
      hasDocs: config.docs,
      token,
      takesTokens: !takesJwt(config),
    }),
  )
  const about = { ...build, pid: process.pid, store: description }
  log.info({ url, operationsUrl, ...about }, 'listening')
  warnOfWideModes(config, log)
  watchTokens(store.tokens, { log, observer: metrics?.tokens, stop: terminal.stop })
  const failure = await Promise.race([store.failure, aborted(terminal.stop)])
  log.info({ reason: failure?.message ?? terminal.stop.reason }, 'draining')
  server.announceClose()
  const delay = sleep(config.shutdownDelayMs, undefined, { ref: false })
  if (failure === undefined) await Promise.race([store.failure, delay])
  await server.close()
}

/** The last resort: after an exception that nothing contained, the state of the process is unknown. */
function endOnException({ log }: Telemetry): () => void {
  const end = (err: unknown) => {
    log.fatal({ err, exitCode: exitCodes.failure }, 'stopped by an exception')
    process.exit(exitCodes.failure)
  }
  process.on('uncaughtException', end)
  return () => void process.off('uncaughtException', end)
}

async function serve(config: Config, terminal: Terminal): Promise<void> {
  const { startTelemetry, stopTelemetry } = await import('../../telemetry/telemetry.ts')
  const telemetry = await startTelemetry(config)
  const forgetExceptions = endOnException(telemetry)
  terminal.onLogSignal(telemetry.switchLogLevel)
  const store = await openStore({ ...config, observer: telemetry.metrics?.store })
  let failure: Error | undefined
  void store.failure.then((error) => {
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
  addAllSettingFlags(program.command('serve', { isDefault: true }))
    .description('serve plants over HTTP (the default)')
    .allowUnknownOption()
    .allowExcessArguments()
    .action((flags: Flags, command: Command) => {
      const commands = program.commands.map((other) => other.name())
      const problems = describeUnknownArguments(command.args, commands)
      return serve(loadConfig(flags, problems), terminal)
    })
}
