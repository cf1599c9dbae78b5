import type { Config } from '../../config/config.ts'
import type { Address } from '../../config/setting-schemas.ts'
import { environmentNameOf } from '../../config/settings.ts'
import type { FrameOptions, RunningServer } from '../../http/server.ts'
import type { Store } from '../../store/store.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import { CommandError, exitCodes } from '../command-error.ts'

/** What a server is started with. */
export interface StartParts extends Pick<Telemetry, 'log' | 'metrics' | 'tracing'> {
  readonly store: Store
  /** Aborts a fetch of keys. */
  readonly stop: AbortSignal
}

function describeListenError(error: NodeJS.ErrnoException & Partial<Address>): string {
  return (
    `cannot listen on host ${error.host}, port ${error.port}: ${error.code}. Choose another with ` +
    `${environmentNameOf('listen')} or ${environmentNameOf('operationsListen')}`
  )
}

/**
 * Starts to serve a store.
 * @throws CommandError when it cannot listen where it should.
 */
export async function start(config: Config, parts: StartParts): Promise<RunningServer> {
  // Loaded here, because the other commands need no server and start in half the time without it.
  const [{ startAround }, { openService }] = await Promise.all([
    import('../../http/server.ts'),
    import('../../http/open-service.ts'),
  ])
  const { log, metrics, store } = parts
  const options: FrameOptions = { ...config, log, metrics, store }
  try {
    return await startAround(async (onFailure) => {
      const service = await openService(config, { ...parts, onFailure })
      return { ...service, url: await service.listen(config.listen) }
    }, options)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error
    throw new CommandError(describeListenError(error as Error), exitCodes.unavailable, {
      cause: error,
    })
  }
}
