import type { Deadline } from './deadline.ts'
import { optionError } from './errors.ts'

/** Gives the token of a call; each call asks by itself, once more where the server refuses it. */
export type TokenFunction = (context: {
  /** True where the server has refused the token that this call was given before. */
  readonly refresh: boolean
  /** Aborted when the call ends before it has its token. */
  readonly signal: AbortSignal
}) => string | Promise<string>

/** What RFC 9110 §5.5 lets a header hold, less the space: fetch would quote anything else in its error. */
function toToken(given: unknown): string {
  const token = typeof given === 'string' ? given.trim() : ''
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw optionError('token', 'must be printable ASCII without spaces', 'invalid_token')
}

/** @throws PlantStoreError, without the value, for what cannot be a token. */
export function parseToken(given: unknown): string | TokenFunction {
  if (typeof given === 'function') return given as TokenFunction
  if (given !== undefined && given !== '') return toToken(given)
  const rule = 'is missing: give it, or set PLANT_STORE_TOKEN'
  throw optionError('token', rule, 'missing_token')
}

/** The token of a call. @throws PlantStoreError where there is none */
export async function askToken(
  token: string | TokenFunction,
  refresh: boolean,
  deadline: Deadline,
): Promise<string> {
  if (typeof token === 'string') return token
  const asking = (async () => token({ refresh, signal: deadline.signal }))()
  const given = asking.catch(() => {
    // What it threw is not passed on, as it may hold a secret that is unknown here.
    throw optionError('token', 'could not be had: its function threw', 'token_provider_failed')
  })
  return toToken(await deadline.race(given))
}
