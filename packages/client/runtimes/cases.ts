import type { Case } from './case.ts'
import { abortCases } from './cases/abort.ts'
import { bulkCases } from './cases/bulk.ts'
import { connectionCases } from './cases/connection.ts'
import { handshakeCases } from './cases/handshake.ts'
import { protocolCases } from './cases/protocol.ts'
import { sendCases } from './cases/sends.ts'

/** Everything that a server may do to its caller; the place of a case is its number. */
export const cases: readonly Case[] = [
  ...abortCases,
  ...connectionCases,
  ...handshakeCases,
  ...sendCases,
  ...protocolCases,
  ...bulkCases,
]
