import { isatty } from 'node:tty'
import type { Config } from '../config/config.ts'
import { within } from '../process/within.ts'
import { createLevelSwitch, createLog } from './log.ts'

/** What a server reports of itself: its log, and metrics and traces where somebody takes them. */
export type Telemetry = Awaited<ReturnType<typeof startTelemetry>>

/** How long sending the last spans may take: a collector that does not answer must not delay the end. */
const TRACES_FLUSH_LIMIT_MS = 500

/**
 * Opens the log, which is for people where standard error is a terminal, and starts metrics and
 * traces where the settings ask for them.
 */
export async function startTelemetry(config: Config) {
  const { traces, operationsListen } = config
  const log = createLog(config.logLevel, undefined, isatty(2))
  // Nobody can read metrics without an operations listener, and the SDK of traces takes memory.
  const metrics = operationsListen && (await import('./metrics.ts')).createMetrics()
  const tracing = traces && (await import('./traces.ts')).startTracing(traces, log)
  return {
    log,
    metrics,
    tracing,
    /** Raises the log to `debug`, and back. */
    switchLogLevel: createLevelSwitch(log),
    /** Sends the spans that are left; those not sent within 500 ms are lost. */
    async stop() {
      if (tracing !== undefined) await within(TRACES_FLUSH_LIMIT_MS, tracing.shutdown(), undefined)
    },
  }
}
