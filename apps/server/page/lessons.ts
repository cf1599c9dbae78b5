import {
  AUTHORIZATION_SCHEME,
  type ErrorName,
  INT64_MAX,
  type NewPlant,
} from '@plant-store/contract'
import type { Verdict } from './explain.ts'
import { writePlantInLines } from './plant.ts'
import type { Request } from './send.ts'

/** What a lesson may begin with. */
export interface Before {
  /** What Send would send now. */
  readonly request: Request
  /** The last plant that was answered 200; needed where the lesson says so. */
  readonly stored: NewPlant
}

/** The promises of the service. Send shows the first, lessons show the others. */
export const promises = [
  '200 means durable',
  'An id keeps every digit',
  'A repeat cannot hurt',
  'Errors tell the truth',
] as const

/** A request to learn something from. */
export interface Lesson {
  readonly id: string
  /** The promise that it shows, as an index. */
  readonly promise: 1 | 2 | 3
  readonly label: string
  /** What it sends. */
  readonly what: string
  /** Whether a plant must have been stored before. */
  readonly needsStored?: true
  make(before: Before): Request
  /** The answers that teach it; after any other the answer speaks for itself. */
  readonly teachers: readonly (Verdict | ErrorName)[]
  /** What it teaches. */
  readonly learned: string
}

const BEYOND = INT64_MAX + 1n

/** Its content is always the same, so that the store holds it once, whoever presses. */
function trialPlant(id: bigint): string {
  return writePlantInLines({ id, name: 'Giant sequoia', tag: 'trial' })
}

export const lessons: readonly Lesson[] = [
  {
    id: 'largest',
    promise: 1,
    label: 'The largest id',
    what: `${INT64_MAX}: no double holds it.`,
    make: ({ request }) => ({ ...request, body: trialPlant(INT64_MAX) }),
    teachers: ['Stored', 'Already there'],
    learned:
      'An id keeps every digit. This page sends the digits as text. A program that reads them into a double would send 9223372036854775808, which is another number.',
  },
  {
    id: 'beyond',
    promise: 1,
    label: 'An id beyond it',
    what: `${BEYOND}: no int64 holds it.`,
    make: ({ request }) => ({ ...request, body: trialPlant(BEYOND) }),
    teachers: ['invalid_plant'],
    learned:
      'An id is never rounded and never wraps around. What does not fit is refused, and the message names the field and its rule.',
  },
  {
    id: 'again',
    promise: 2,
    label: 'The same plant again',
    what: 'What to do when an answer got lost.',
    needsStored: true,
    make: ({ request, stored }) => ({ ...request, body: writePlantInLines(stored) }),
    teachers: ['Already there'],
    learned:
      'A repeat cannot hurt. It gets the same 200 and the same body; only the header idempotent-replayed tells the two apart. So when in doubt, send again.',
  },
  {
    id: 'other',
    promise: 2,
    label: 'Other content, same id',
    what: 'What if two programs choose one id?',
    needsStored: true,
    make: ({ request, stored }) => ({
      ...request,
      body: writePlantInLines({ ...stored, name: `${stored.name}, but another` }),
    }),
    teachers: ['id_taken'],
    learned:
      'Nothing is ever overwritten. Whoever came first keeps the id, and the second one is told so.',
  },
  {
    id: 'no-token',
    promise: 3,
    label: 'No token',
    what: 'The request without Authorization.',
    make: ({ request: { body } }) => ({ body }),
    teachers: ['missing_credentials'],
    learned:
      'Errors tell the truth. The token is checked before the body is read, so nothing of the plant was even looked at.',
  },
  {
    id: 'wrong-token',
    promise: 3,
    label: 'A wrong token',
    what: 'The request with a token that nobody made.',
    make: ({ request: { body } }) => ({
      body,
      authorization: `${AUTHORIZATION_SCHEME} plant_that_nobody_made`,
    }),
    teachers: ['invalid_token'],
    learned:
      'The number tells a wrong token from a missing one. It does not tell whether the token was unknown, revoked or expired: that would help whoever is guessing.',
  },
]
