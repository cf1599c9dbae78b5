import type { MessagePort } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import type { CreateOutcome } from '../../../store/store.ts'
import type { KnownFile } from '../files/known-files.ts'

/** What the thread is started with. */
export interface CommitWorkerData {
  readonly path: string
  readonly files: readonly KnownFile[]
  /** Takes a CommitRequest and replies it with a CommitReply; `undefined` ends the thread. */
  readonly port: MessagePort
}

/** A batch as columns: a few arrays cross a thread boundary faster than many objects. */
export interface CommitRequest {
  readonly ids: BigInt64Array
  readonly names: readonly string[]
  readonly tags: readonly (string | undefined)[]
}

export type CommitReply =
  | {
      readonly outcomes: CreateOutcome[]
      /** How long the COMMIT statement took. */
      readonly statementMs: number
    }
  | { readonly error: { name: string; message: string; cause: string | undefined } }

export function toRequest(plants: readonly NewPlant[]): CommitRequest {
  return {
    ids: BigInt64Array.from(plants, ({ id }) => id),
    names: plants.map(({ name }) => name),
    tags: plants.map(({ tag }) => tag),
  }
}

export function toPlants({ ids, names, tags }: CommitRequest): NewPlant[] {
  return names.map((name, index) => ({ id: ids[index] as bigint, name, tag: tags[index] }))
}
