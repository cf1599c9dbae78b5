import type { Config } from '../../config/config.ts'
import { environmentNameOf } from '../../config/settings.ts'
import { createProcessCounts } from '../../http/limits/process-counts.ts'
import type { Address } from '../../http/listener.ts'
import { countLoops } from '../../http/loops/count-loops.ts'
import type { FrameOptions, RunningServer, StartService } from '../../http/server.ts'
import type { OpenedStore } from '../../store/store.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { CommandError, exitCodes } from '../command-error.ts'

/** What a server is started with. */
export interface StartParts extends Pick<Telemetry, 'log' | 'metrics' | 'tracing'> {
  readonly store: OpenedStore
  /** Aborts a fetch of keys. */
  readonly stop: AbortSignal
}

function describeListenError(error: NodeJS.ErrnoException & Partial<Address>): string {
  return (
    `cannot listen on host ${error.host}, port ${error.port}: ${error.code}. Choose another with ` +
    `${environmentNameOf('listen')} or ${environmentNameOf('operationsListen')}`
  )
}

// Both load the service here, because the other commands need no server and start in half the time
// without it.

function startHere(config: Config, parts: StartParts): StartService {
  return async (onFailure) => {
    const { openService } = await import('../../http/open-service.ts')
    const limits = { counts: createProcessCounts(1, config), loop: 0 }
    const service = await openService(config, { ...parts, limits, onFailure })
    return { ...service, url: await service.listen(config.listen) }
  }
}

function startInThreads(config: Config, parts: StartParts, count: number): StartService {
  return async (suspect) => {
    const { startLoops } = await import('../../http/loops/loops.ts')
    const { log, store } = parts
    const loops = await startLoops({ config, log, store, count, suspect })
    parts.metrics?.addLoops((names) => loops.measure(names))
    return loops
  }
}

/**
 * Starts to serve a store, in this thread or in several others.
 * @throws CommandError when it cannot listen where it should.
 */
export async function start(config: Config, parts: StartParts): Promise<RunningServer> {
  const { startAround } = await import('../../http/server.ts')
  const count = countLoops(config.loops)
  const startService = count === 1 ? startHere(config, parts) : startInThreads(config, parts, count)
  const { log, metrics, store } = parts
  const options: FrameOptions = { ...config, log, metrics, store }
  try {
    return await startAround(startService, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new CommandError(describeListenError(error as Error), exitCodes.unavailable, {
      cause: error,
    })
  }
}
