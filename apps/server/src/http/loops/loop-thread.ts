import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ConfigError } from '../../config/config.ts'
import { within } from '../../process/within.ts'
import { toError } from '../../store/sent-error.ts'
import type { StoreShare } from '../../store/store.ts'
import type { Address } from '../listener.ts'
import type { FromLoop, LoopData, Question, ToLoop } from './messages.ts'

/** The worker's file stands beside this one and is of the same kind: a source, or built. */
const WORKER = new URL(`./loop-worker${extname(import.meta.url)}`, import.meta.url)

/** Its nursery then has 16 MiB in all its halves, as that of the main thread. */
const NURSERY_MB = 24

/** How long a loop may take to answer the main thread. */
const ANSWER_LIMIT_MS = 1_000

/** What a loop reports while it serves. */
export interface LoopObserver {
  /** A request could not be served. */
  suspect(): void
}

const NO_ANSWER = Symbol('no answer')

/** One event loop in a thread of its own, as the main thread sees it. */
export class LoopThread {
  readonly loop: number
  /** Resolves once it could listen; rejects with what kept it from that. */
  readonly prepared: Promise<void>
  /** Resolves when the thread is over, with what ended it; undefined where it was told to end. */
  readonly ended: Promise<unknown>
  readonly #worker: Worker
  readonly #prepared = Promise.withResolvers<void>()
  readonly #listening = Promise.withResolvers<string>()
  readonly #asked = new Map<number, (value: unknown) => void>()
  #questions = 0
  #isListening = false
  #isClosing = false

  constructor(data: Omit<LoopData, 'share'>, share: StoreShare, observer: LoopObserver) {
    this.loop = data.loop
    this.#worker = new Worker(WORKER, {
      name: `loop ${data.loop}`,
      workerData: { ...data, share: share.data } satisfies LoopData,
      transferList: [...share.transfer],
      resourceLimits: { maxYoungGenerationSizeMb: NURSERY_MB },
    })
    this.#worker.on('message', (message: FromLoop) => this.#take(message, observer))
    this.prepared = this.#prepared.promise
    this.ended = this.#watch()
    // Somebody may look at them later, or never.
    for (const promise of [this.prepared, this.#listening.promise]) promise.catch(() => {})
  }

  /** Whether callers reach it. */
  get isListening(): boolean {
    return this.#isListening
  }

  /** Resolves with the URL. @throws the error of Node's listen */
  listen(address: Address): Promise<string> {
    this.#tell({ type: 'listen', address })
    return this.#listening.promise
  }

  /** The answer to a question; undefined where there is none within a second. */
  async ask(question: Question): Promise<unknown> {
    const id = ++this.#questions
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#asked.set(id, resolve)
    this.#tell({ type: 'ask', id, question })
    const answer = await within(ANSWER_LIMIT_MS, promise, NO_ANSWER)
    this.#asked.delete(id)
    return answer === NO_ANSWER ? undefined : answer
  }

  announceClose(): void {
    this.#tell({ type: 'announceClose' })
  }

  setLogLevel(level: string): void {
    this.#tell({ type: 'logLevel', level })
  }

  /**
   * Lets it answer what is in flight, and ends it.
   * @param deadlineMs - what takes longer is cut off; by default the setting for it
   * @param limitMs - when the thread is ended whatever it does
   */
  async close(deadlineMs: number | undefined, limitMs: number): Promise<void> {
    this.#isClosing = true
    this.#tell({ type: 'close', deadlineMs })
    if ((await within(limitMs, this.ended, NO_ANSWER)) === NO_ANSWER) await this.#worker.terminate()
  }

  #tell(message: ToLoop): void {
    this.#worker.postMessage(message)
  }

  #take(message: FromLoop, observer: LoopObserver): void {
    switch (message.type) {
      case 'prepared':
        this.#prepared.resolve()
        break
      case 'listening':
        this.#isListening = true
        this.#listening.resolve(message.url)
        break
      case 'failed':
        this.#fail(toError(message.error, { ConfigError }))
        break
      case 'reply':
        this.#asked.get(message.id)?.(message.value)
        break
      default:
        observer[message.type]()
    }
  }

  #fail(error: unknown): void {
    this.#prepared.reject(error)
    this.#listening.reject(error)
  }

  #watch(): Promise<unknown> {
    let cause: unknown
    this.#worker.on('error', (error) => {
      cause = error
    })
    return new Promise((resolve) => {
      this.#worker.on('exit', (code) => {
        this.#isListening = false
        cause ??= new Error(`the thread of the loop has ended with ${code}`)
        this.#fail(cause)
        resolve(this.#isClosing ? undefined : cause)
      })
    })
  }
}
