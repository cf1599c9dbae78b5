import type { Logger } from 'pino'
import type { Config } from '../settings/config.ts'
import { createLevelSwitch, createLog } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Tracing } from './traces/start-tracing.ts'

/** What watches a server: its log, and metrics and traces where they have somewhere to go. */
export interface Telemetry {
  readonly log: Logger
  readonly metrics: Metrics | undefined
  readonly tracing: Tracing | undefined
  /** Raises the log to `debug`, and back. */
  switchLogLevel(): void
}

/** How long the last spans may take to send: a collector that is away must not hold up the end. */
const TRACES_FLUSH_LIMIT_MS = 500

/** What nobody can ask for is not measured, and what would measure it not loaded. */
async function startMetrics({ operationsListen }: Config): Promise<Metrics | undefined> {
  if (operationsListen === undefined) return undefined
  return (await import('./metrics/metrics.ts')).createMetrics()
}

/** The SDK takes time and memory, and so is loaded only where spans have somewhere to go. */
async function startTraces({ traces }: Config, log: Logger): Promise<Tracing | undefined> {
  if (traces === undefined) return undefined
  return (await import('./traces/start-tracing.ts')).startTracing(traces, log)
}

export async function startTelemetry(config: Config): Promise<Telemetry> {
  const log = createLog(config.logLevel)
  return {
    log,
    metrics: await startMetrics(config),
    tracing: await startTraces(config, log),
    switchLogLevel: createLevelSwitch(log),
  }
}

/** Sends the spans that are left; what is not sent in time is lost. */
export async function stopTelemetry({ tracing }: Telemetry): Promise<void> {
  if (tracing !== undefined) await isDoneWithin(TRACES_FLUSH_LIMIT_MS, tracing.shutdown())
}

/** Whether work was done within a time; what comes of it later is nobody's business. */
export function isDoneWithin(limitMs: number, work: Promise<void>): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, limitMs, false)
    work.then(() => resolve(true), reject).finally(() => clearTimeout(timer))
  })
}
