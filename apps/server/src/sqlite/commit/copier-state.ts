/**
 * What the thread that copies the log does, in memory that three threads share. The thread that
 * commits orders a copy; the one that copies hands the sync to the main thread, which ends it.
 */
export const copierStates = { absent: 0, idle: 1, copying: 2, syncing: 3, closing: 4 } as const

export type CopierState = (typeof copierStates)[keyof typeof copierStates]

/** One of copierStates, as its only element. */
export type SharedCopierState = Int32Array<SharedArrayBuffer>

export function createCopierState(): SharedCopierState {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
}

/** Does nothing where the state is another than `from` by now. */
export function moveCopier(state: SharedCopierState, from: CopierState, to: CopierState): void {
  if (Atomics.compareExchange(state, 0, from, to) === from) Atomics.notify(state, 0)
}
