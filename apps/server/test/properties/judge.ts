import type { ErrorName } from '@plant-store/contract'
import type { StoredPlant } from '../wire/database-under-test.ts'
import type { DocumentValidator } from './document-validator.ts'
import { exactIntegerOf, parseExactly } from './exact-json.ts'

/** What a body is by the document: a plant, or what is wrong with it. */
export type Verdict = { readonly plant: StoredPlant } | { readonly error: ErrorName }

/** What the document says in words: error 40001 is for more levels than these. */
const MAX_LEVELS = 64

/** What the document says in words, because no pattern can: texts have no lone surrogates. */
function isWellFormed({ name, tag = '' }: StoredPlant): boolean {
  return name.isWellFormed() && tag.isWellFormed()
}

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

function parseBody(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    const text = utf8.decode(bytes)
    const value = parseExactly(text)
    return countLevels(text) > MAX_LEVELS ? undefined : { value }
  } catch {
    return undefined
  }
}

function toPlant(value: object): StoredPlant {
  const { name, tag } = value as StoredPlant
  const plant = { id: exactIntegerOf(value, 'id') as bigint, name }
  return Object.hasOwn(value, 'tag') && tag !== undefined ? { ...plant, tag } : plant
}

/** Judges a body by the published document alone; the server has no part in it. */
export function judge(bytes: Uint8Array, document: DocumentValidator): Verdict {
  const parsed = parseBody(bytes)
  if (parsed === undefined) return { error: 'malformed_json' }
  if (!document.isRequestBody(parsed.value)) return { error: 'invalid_plant' }
  const plant = toPlant(parsed.value as object)
  return isWellFormed(plant) ? { plant } : { error: 'invalid_plant' }
}
