import {
  decodeJson,
  ErrorBody,
  type ErrorName,
  errorNameOf,
  type JsonValue,
  Plant,
  SUCCESS_STATUS,
} from '@plant-store/contract'
import { errorTexts } from '@plant-store/contract/error-texts'
import type { Answer } from './send.ts'

/** What became of the plant. */
export type Verdict = 'Stored' | 'Already there' | 'Nothing stored' | 'May be stored'

export interface Explanation {
  readonly verdict: Verdict
  /** Why, in a sentence or two. */
  readonly words: string
  /** The error that the answer carries, if this version knows its number. */
  readonly error?: ErrorName
}

const STORED = 'The plant is on stable storage: not even a power cut can take it away now.'
const ALREADY_THERE = 'The same plant was stored before, and it still is. Nothing was changed.'
const SEND_AGAIN = 'Send the same plant again to find out: a repeat cannot hurt.'

function readJson(text: string): JsonValue | undefined {
  try {
    return decodeJson(new TextEncoder().encode(text))
  } catch {
    return undefined
  }
}

/** A number that this version does not know is judged by its status, as the contract says. */
function explainNumber(code: number, status: number): Explanation {
  const error = errorNameOf(code)
  if (error === undefined) {
    const isRefused = status < 500 || status === 503
    const verdict = isRefused ? 'Nothing stored' : 'May be stored'
    return { verdict, words: 'This page does not know the number of this error.' }
  }
  const { meaning, mayBeStored } = errorTexts[error]
  return { verdict: mayBeStored ? 'May be stored' : 'Nothing stored', words: meaning, error }
}

/** What an answer means for the plant; undefined stands for no answer. */
export function explain(answer: Answer | undefined): Explanation {
  if (answer === undefined) {
    return { verdict: 'May be stored', words: `No answer came. ${SEND_AGAIN}` }
  }
  const { status, body, isReplay } = answer
  const value = readJson(body)
  if (status === SUCCESS_STATUS && Plant.safeParse(value).success) {
    if (isReplay) return { verdict: 'Already there', words: ALREADY_THERE }
    return { verdict: 'Stored', words: STORED }
  }
  const { data } = ErrorBody.safeParse(value)
  if (data !== undefined && status !== SUCCESS_STATUS) return explainNumber(data.error, status)
  const words = `This answer is not from Plant Store but from something before it. ${SEND_AGAIN}`
  return { verdict: 'May be stored', words }
}
