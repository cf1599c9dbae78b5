import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type SentError, toError, toSentError } from '../store/sent-error.ts'
import { type Store, StoreUnavailableError, type TokenStore } from '../store/store.ts'

/** What threads that joined a store ask of the thread that opened it. */
export type AskedStore = TokenStore & Pick<Store, 'isEmpty' | 'isReady'>

type Name = keyof AskedStore

interface Question {
  readonly number: number
  readonly name: Name
  readonly values: readonly unknown[]
}

/** To the thread that opened the store: a question, or the error of a commit. */
type ToOpened = Question | { readonly error: SentError }

/** To a thread that joined: an answer, or that the store cannot be trusted any more. */
type ToJoined = Answer | { readonly fault: SentError }

type Answer = { readonly number: number } & (
  | { readonly result: unknown }
  | { readonly error: SentError }
)

async function answer(store: AskedStore, { name, values }: Question) {
  try {
    const method: (...values: never[]) => unknown = store[name]
    return { result: await method(...(values as never[])) }
  } catch (error) {
    return { error: toSentError(error) }
  }
}

/** The threads that joined a store, for the one that opened it. */
export class JoinedThreads {
  readonly #ports = new Set<MessagePort>()

  /** Answers one more thread, by the port that this returns; `onFailure` gets errors of its commits. */
  add(store: AskedStore, onFailure: (error: Error) => void): MessagePort {
    const { port1, port2 } = new MessageChannel()
    this.#ports.add(port1)
    port1.on('close', () => this.#ports.delete(port1))
    port1.on('message', async (message: ToOpened) => {
      if ('error' in message) onFailure(toError(message.error))
      else port1.postMessage({ number: message.number, ...(await answer(store, message)) })
    })
    return port2
  }

  /** The store cannot be trusted any more. */
  fail(fault: Error): void {
    for (const port of this.#ports) {
      port.postMessage({ fault: toSentError(fault) } satisfies ToJoined)
    }
  }

  close(): void {
    for (const port of this.#ports) port.close()
  }
}

/** The thread that opened a store, for one that joined. */
export class OpenedThread {
  readonly #port: MessagePort
  readonly #asked = new Map<number, PromiseWithResolvers<unknown>>()
  #count = 0

  /** `onFault` is called once the store cannot be trusted any more. */
  constructor(port: MessagePort, onFault: (fault: Error) => void) {
    this.#port = port
    port.on('message', (message: ToJoined) => {
      if ('fault' in message) onFault(toError(message.fault))
      else this.#take(message)
    })
    port.on('close', () => {
      const closed = new StoreUnavailableError('the store is closed')
      for (const { reject } of this.#asked.values()) reject(closed)
    })
  }

  readonly store: AskedStore = {
    add: this.#ask('add'),
    find: this.#ask('find'),
    list: this.#ask('list'),
    revoke: this.#ask('revoke'),
    replace: this.#ask('replace'),
    markUsed: this.#ask('markUsed'),
    isEmpty: this.#ask('isEmpty'),
    isReady: this.#ask('isReady'),
  }

  /** Tells the error of a commit. */
  tell(error: unknown): void {
    this.#port.postMessage({ error: toSentError(error) } satisfies ToOpened)
  }

  close(): void {
    this.#port.close()
  }

  #take(message: Answer): void {
    const question = this.#asked.get(message.number)
    this.#asked.delete(message.number)
    if ('error' in message) question?.reject(toError(message.error))
    else question?.resolve(message.result)
  }

  #ask<Asked extends Name>(name: Asked): AskedStore[Asked] {
    const send = (...values: unknown[]) => {
      const number = ++this.#count
      const question = Promise.withResolvers<unknown>()
      this.#asked.set(number, question)
      this.#port.postMessage({ number, name, values } satisfies ToOpened)
      return question.promise
    }
    return send as AskedStore[Asked]
  }
}
