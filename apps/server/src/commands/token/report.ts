import type { IssuedToken } from '../../auth/tokens.ts'
import { isUsable } from '../../auth/tokens.ts'
import type { Store, TokenRecord } from '../../store/store.ts'
import { displayName } from '../../text/display-name.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import type { Terminal } from '../terminal.ts'

/** A time to the minute in UTC, or `never`. */
export function describeTime(time: number | undefined): string {
  return time === undefined ? 'never' : `${new Date(time).toISOString().slice(0, 16)}Z`
}

export function describeState(token: TokenRecord): string {
  if (token.revokedAt !== undefined) return `revoked ${describeTime(token.revokedAt)}`
  return isUsable(token, Date.now()) ? 'in use' : 'expired'
}

/** The token alone goes to standard output, so that a script can take it from there. */
export function reportIssued(terminal: Terminal, { text, record }: IssuedToken): void {
  const { id, name, expiresAt } = record
  terminal.out(`${text}\n`)
  terminal.err(
    `Token ${id} (${displayName(name)}), expires: ${describeTime(expiresAt)}. It is shown this once.\n`,
  )
}

/** @throws CommandError when there is no such token. */
export async function findToken({ tokens }: Store, id: string): Promise<TokenRecord> {
  const token = await tokens.find(id)
  if (token !== undefined) return token
  throw new CommandError(
    `there is no token ${displayName(id)}. Try: plant-store-server token list`,
    exitCodes.config,
  )
}
