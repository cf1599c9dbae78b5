import type { ErrorName } from '@plant-store/contract'
import type { StoredPlant } from '../wire/database-under-test.ts'
import type { DocumentValidator } from './document-validator.ts'
import { exactIntegerOf, parseExactly } from './exact-json.ts'

/** What a body is by the document: a plant, or what is wrong with it. */
export type Verdict = { readonly plant: StoredPlant } | { readonly error: ErrorName }

/** What the document says in words: error 40001 is for more levels than these. */
const MAX_LEVELS = 64

const utf8 = new TextDecoder('utf-8', { fatal: true })

function countLevels(json: string): number {
  let levels = 0
  let most = 0
  for (const [bracket] of json.replace(/"(?:[^"\\]|\\.)*"/gs, '').matchAll(/[[\]{}]/g)) {
    levels += bracket === '[' || bracket === '{' ? 1 : -1
    most = Math.max(most, levels)
  }
  return most
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    const text = utf8.decode(bytes)
    return countLevels(text) > MAX_LEVELS ? undefined : parseExactly(text)
  } catch {
    return undefined
  }
}

/** Judges a body by the published document alone; the server has no part in it. */
export function judge(bytes: Uint8Array, document: DocumentValidator): Verdict {
  const value = parseBody(bytes)
  if (value === undefined) return { error: 'malformed_json' }
  if (!document.isRequestBody(value)) return { error: 'invalid_plant' }
  const { name, tag } = value as StoredPlant
  // What the document says in words, because no pattern can: texts have no lone surrogates.
  if (!name.isWellFormed() || tag?.isWellFormed() === false) return { error: 'invalid_plant' }
  const plant = { id: exactIntegerOf(value as object, 'id') as bigint, name }
  return {
    plant: Object.hasOwn(value as object, 'tag') && tag !== undefined ? { ...plant, tag } : plant,
  }
}
