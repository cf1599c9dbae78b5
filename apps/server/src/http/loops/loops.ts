import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.ts'
import { type OpenedStore, StoreUnavailableError } from '../../store/store.ts'
import type { ReadLoops } from '../../telemetry/metrics/loop-metrics.ts'
import { createProcessCounts, forgetLoop, type ProcessCounts } from '../limits/process-counts.ts'
import type { Address } from '../listener.ts'
import type { RunningService } from '../server.ts'
import { claimPort } from './claim-port.ts'
import { Deaths } from './deaths.ts'
import { type LoopObserver, LoopThread } from './loop-thread.ts'

export interface LoopsOptions extends LoopObserver {
  readonly config: Config
  readonly log: Logger
  readonly store: Pick<OpenedStore, 'share'>
  /** How many loops, from 2 up. */
  readonly count: number
}

/** How long a thread may take to end beyond what its requests may take. */
const END_MARGIN_MS = 4_000

/** How long to wait before another try to replace a loop. */
const RETRY_MS = 1_000

/** Event loops in threads of their own, which share a port. */
export class Loops implements RunningService {
  readonly #options: LoopsOptions
  readonly #threads: LoopThread[]
  readonly #counts: ProcessCounts
  readonly #deaths = new Deaths()
  #address: Address
  #isClosing = false
  #isDraining = false
  #url = ''

  /** Begins to prepare all loops; none listens yet. */
  constructor(options: LoopsOptions) {
    this.#options = options
    this.#address = options.config.listen
    this.#counts = createProcessCounts(options.count, options.config)
    this.#threads = Array.from({ length: options.count }, (_, index) => this.#make(index + 1))
  }

  get url(): string {
    return this.#url
  }

  /**
   * Resolves once all loops listen.
   * @throws what keeps one from that; none listens then.
   */
  async start(): Promise<void> {
    const threads = this.#threads
    try {
      await Promise.all(threads.map(({ prepared }) => prepared))
      await claimPort(this.#address, async (free) => {
        this.#address = free
        const urls = await Promise.all(threads.map((thread) => thread.listen(free)))
        this.#url = urls[0] ?? ''
      })
    } catch (error) {
      await this.close(0)
      throw error
    }
    for (const thread of threads) void this.#keep(thread)
  }

  async assertReady(): Promise<void> {
    const answers = await Promise.all(
      this.#threads.map((thread) => thread.isListening && thread.ask({ about: 'ready' })),
    )
    const silent = answers.findIndex((answer) => answer !== true)
    if (silent < 0) return
    throw new StoreUnavailableError(`event loop ${silent + 1} does not answer`)
  }

  announceClose(): void {
    this.#isDraining = true
    for (const thread of this.#threads) thread.announceClose()
  }

  async close(deadlineMs?: number): Promise<void> {
    this.#isClosing = true
    const limitMs = END_MARGIN_MS + (deadlineMs ?? this.#options.config.shutdownTimeoutMs)
    await Promise.all(this.#threads.map((thread) => thread.close(deadlineMs, limitMs)))
  }

  setLogLevel(level: string): void {
    for (const thread of this.#threads) thread.setLogLevel(level)
  }

  /** What each loop has measured, with names only these metrics; undefined for one that does not answer. */
  measure(names?: readonly string[]): ReturnType<ReadLoops> {
    const answers = this.#threads.map((thread) => thread.ask({ about: 'metrics', names }))
    return Promise.all(answers) as ReturnType<ReadLoops>
  }

  #make(loop: number): LoopThread {
    const { config, log, store } = this.#options
    const data = {
      loop,
      counts: this.#counts,
      hasColors: process.stderr.isTTY && process.stderr.hasColors(),
      config: { ...config, logLevel: log.level as Config['logLevel'] },
    }
    return new LoopThread(data, store.share(), this.#options)
  }

  /** Replaces a thread that dies, and the one that replaces it. */
  async #keep(thread: LoopThread): Promise<void> {
    let current = thread
    while (true) {
      const cause = await current.ended
      if (this.#isClosing) return
      this.#note(current, cause)
      current = await this.#replace(current)
    }
  }

  /** @throws where loops die too often, which ends the process as any exception does. */
  #note({ loop }: LoopThread, err: unknown): void {
    forgetLoop(this.#counts, loop - 1)
    this.#options.log.error({ loop, err }, 'an event loop has died, and is replaced')
    this.#deaths.add(err)
  }

  async #replace({ loop }: LoopThread): Promise<LoopThread> {
    const thread = this.#make(loop)
    this.#threads[loop - 1] = thread
    try {
      await thread.prepared
      if (this.#isDraining) thread.announceClose()
      await this.#listen(thread)
      return thread
    } catch (err) {
      if (this.#isClosing) return thread
      this.#options.log.warn({ loop, err }, 'an event loop could not be replaced yet')
      // A store that cannot be reached now is no fault of the loop.
      if (!(err instanceof StoreUnavailableError)) this.#deaths.add(err)
    }
    await sleep(RETRY_MS)
    return this.#isClosing ? thread : this.#replace(thread)
  }

  /** Where no other loop listens, somebody else may by now. */
  #listen(thread: LoopThread): Promise<string> {
    if (this.#threads.some(({ isListening }) => isListening)) return thread.listen(this.#address)
    return claimPort(this.#address, (address) => thread.listen(address))
  }
}

/**
 * Starts loops that share the port of the service.
 * @throws what keeps one of them from listening: an error of Node's listen, a ConfigError, an error of
 * the store
 */
export async function startLoops(options: LoopsOptions): Promise<Loops> {
  const loops = new Loops(options)
  await loops.start()
  return loops
}
