import { addAbortSignal } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CliError, codeOf, exitCodes } from './cli-error.ts'
import { openStream } from './open-stream.ts'

/** The plant store's own tokens: an id, which its operator knows it by, and a secret. */
const OWN_TOKEN = /plant_([0-9a-f]{12})_[\w-]{16,}/

/** Three parts in base64url, the first of which begins a JSON object (RFC 7519 §3.1). */
const JWT = /eyJ[\w-]{8,}\.[\w-]+\.[\w-]*/

/** What can be shown of a token: the id in it, never its secret. */
export function describeToken(token: string): string {
  const id = OWN_TOKEN.exec(token)?.[1]
  if (id !== undefined) return `plant_${id}_…`
  return JWT.test(token) ? 'a JWT, not shown' : 'not shown'
}

/** Whether a word of a command line is, or holds, a token, or is a flag for one. */
function holdsToken(word: string): boolean {
  return /^--?token(?:=|$)/.test(word) || OWN_TOKEN.test(word) || JWT.test(word)
}

/**
 * Refuses a command line with a token in it, which other users of the machine and the shell's
 * history see. Nothing of it is shown again.
 * @throws CliError
 */
export function refuseTokens(args: readonly string[]): void {
  if (!args.some(holdsToken)) return
  const why = 'a token does not belong on the command line; nothing was done'
  const hint =
    'plant-store login URL, which asks for it; have a token revoked that others may have seen'
  throw new CliError(why, exitCodes.usage, hint)
}

/**
 * @throws CliError where the file cannot be read, is a device, which may never end, or a pipe that
 * does not end within 5 s, or holds no token.
 */
export async function readTokenFile(path: string): Promise<string> {
  const refuse = (why: string) => new CliError(`${path} ${why}`, exitCodes.usage)
  let token: string
  try {
    const { stats, stream } = openStream(path)
    if (stats.isCharacterDevice()) throw refuse('is a device')
    token = (await text(addAbortSignal(AbortSignal.timeout(5_000), stream))).trim()
  } catch (error) {
    if (error instanceof CliError) throw error
    const code = codeOf(error)
    const isEndless = code === undefined || code === 'ABORT_ERR'
    throw refuse(isEndless ? 'is a pipe that did not end within 5 s' : `cannot be read: ${code}`)
  }
  if (token === '') throw refuse('holds no token')
  return token
}
