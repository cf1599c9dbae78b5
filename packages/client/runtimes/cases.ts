import type { Case } from './case.ts'
import { abortCases } from './cases/abort.ts'
import { bulkCases } from './cases/bulk.ts'
import { connectionCases } from './cases/connection.ts'
import { fetchCases } from './cases/fetch.ts'
import { handshakeCases } from './cases/handshake.ts'
import { inputCases } from './cases/input.ts'
import { protocolCases } from './cases/protocol.ts'
import { replyCases } from './cases/replies.ts'
import { retryCases } from './cases/retry.ts'
import { retryAfterCases } from './cases/retry-after.ts'
import { secretCases } from './cases/secrets.ts'
import { sendCases } from './cases/sends.ts'
import { timeCases } from './cases/time.ts'
import { tokenCases } from './cases/token.ts'
import { wordCases } from './cases/words.ts'

/** Everything that a server may do to its caller; the place of a case is its number. */
export const cases: readonly Case[] = [
  ...timeCases,
  ...abortCases,
  ...connectionCases,
  ...handshakeCases,
  ...sendCases,
  ...retryCases,
  ...retryAfterCases,
  ...replyCases,
  ...protocolCases,
  ...inputCases,
  ...fetchCases,
  ...secretCases,
  ...wordCases,
  ...tokenCases,
  ...bulkCases,
]
