import '../../process/without-proto.ts'
import { parentPort, workerData } from 'node:worker_threads'
import { ConfigError } from '../../config/config.ts'
import { engineOf } from '../../engines.ts'
import { within } from '../../process/within.ts'
import { joinObservers } from '../../store/observer.ts'
import { toSentError } from '../../store/sent-error.ts'
import { startTelemetry, stopTelemetry } from '../../telemetry/telemetry.ts'
import { createQueueBound } from '../limits/queue-bound.ts'
import { openService } from '../open-service.ts'
import type { FromLoop, LoopData, Question, ToLoop } from './messages.ts'

/** A thread that serves with an event loop of its own, until it is told to close. */
const { loop, config, counts, share, hasColors } = workerData as LoopData

/** How often it reports at most that something fails. */
const SUSPECT_MS = 1_000

function tell(message: FromLoop): void {
  parentPort?.postMessage(message)
}

let suspectedAt = Number.NEGATIVE_INFINITY

function suspect(): void {
  if (performance.now() - suspectedAt < SUSPECT_MS) return
  suspectedAt = performance.now()
  tell({ type: 'suspect' })
}

async function open() {
  if (hasColors) Object.assign(process.stderr, { isTTY: true })
  const telemetry = await startTelemetry(config, { loop })
  const { metrics } = telemetry
  const observer = joinObservers(metrics?.store, telemetry.tracing?.observer)
  const limits = { counts, loop: loop - 1 }
  const queue = createQueueBound(limits, config.queueLimit)
  const store = await engineOf(config.databaseUrl).join(share, { ...config, queue, observer })
  metrics?.measureStore(store)
  const stop = new AbortController()
  const service = await openService(config, {
    ...telemetry,
    store,
    limits,
    stop: stop.signal,
    onFailure: suspect,
  })
  return { telemetry, store, service, stop }
}

type Opened = Awaited<ReturnType<typeof open>>

/** How long the last commit may take when nobody waits for its reply any more. */
const STORE_CLOSE_LIMIT_MS = 2_000

async function close({ telemetry, store, service, stop }: Opened, deadlineMs?: number) {
  stop.abort()
  await service.close(deadlineMs)
  await within(STORE_CLOSE_LIMIT_MS, store.close(), undefined)
  await stopTelemetry(telemetry)
  process.exit()
}

function answer(question: Question, { telemetry }: Opened): unknown {
  return question.about === 'ready' ? true : telemetry.metrics?.snapshot(question.names)
}

async function take(message: ToLoop, opened: Opened): Promise<void> {
  const { service, telemetry } = opened
  switch (message.type) {
    case 'listen':
      await service
        .listen(message.address, true)
        .then((url) => tell({ type: 'listening', url }), fail)
      break
    case 'ask':
      tell({ type: 'reply', id: message.id, value: await answer(message.question, opened) })
      break
    case 'announceClose':
      service.announceClose()
      break
    case 'logLevel':
      telemetry.log.level = message.level
      break
    case 'close':
      await close(opened, message.deadlineMs)
  }
}

function fail(error: unknown): void {
  tell({ type: 'failed', error: toSentError(error, { ConfigError }) })
  process.exit(1)
}

const opened = open()
opened.then(() => tell({ type: 'prepared' }), fail)
parentPort?.on('message', async (message: ToLoop) => take(message, await opened))
