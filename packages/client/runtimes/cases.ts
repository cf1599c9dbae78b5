import type { Case } from './case.ts'
import { bulkCases } from './cases/bulk.ts'
import { connectionCases } from './cases/connection.ts'
import { protocolCases } from './cases/protocol.ts'
import { sendCases } from './cases/sends.ts'

/** Everything that a server may do to its caller. */
export const cases: readonly Case[] = [
  ...connectionCases,
  ...sendCases,
  ...protocolCases,
  ...bulkCases,
]
