import { type Command, InvalidArgumentError } from 'commander'
import { isUsable } from '../auth/authenticate.ts'
import { createOpaqueToken } from '../auth/opaque-token.ts'
import type { Flags } from '../config.ts'
import type { Store, TokenRecord } from '../store/store.ts'
import { addSettingFlags, CommandError, exitCodes, type Terminal, withStore } from './command.ts'

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** 90 days. */
export const DEFAULT_LIFETIME_MS = 90 * UNIT_MS.d

/** What a list of tokens shows in one column. */
const TOKEN_NAME = /^[\w.@:/+-]{1,64}$/

function parseDuration(text: string): number {
  const [, digits, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (digits === undefined || Number(digits) === 0) {
    throw new InvalidArgumentError('Write a number and m, h or d, such as 30m, 24h or 90d.')
  }
  return Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

function parseLifetime(text: string): number | undefined {
  return text === 'never' ? undefined : parseDuration(text)
}

function parseName(text: string): string {
  if (TOKEN_NAME.test(text)) return text
  throw new InvalidArgumentError('Use 1 to 64 letters, digits and . _ @ : / + - in a name.')
}

/** Makes a token and stores all of it but its secret. */
function draftToken(name: string, lifetimeMs: number | undefined) {
  const { text, id, secretSha256 } = createOpaqueToken()
  const createdAt = Date.now()
  const expiresAt = lifetimeMs === undefined ? undefined : createdAt + lifetimeMs
  const unused = { revokedAt: undefined, lastUsedAt: undefined }
  return { text, record: { id, name, secretSha256, createdAt, expiresAt, ...unused } }
}

/** Stores a new token and gives its text, which is kept nowhere. */
export async function issueToken(
  { tokens }: Store,
  name: string,
  lifetimeMs: number | undefined,
): Promise<{ readonly text: string; readonly record: TokenRecord }> {
  const draft = draftToken(name, lifetimeMs)
  await tokens.add(draft.record)
  return draft
}

function describeTime(time: number | undefined): string {
  return time === undefined ? 'never' : `${new Date(time).toISOString().slice(0, 16)}Z`
}

function describeState(token: TokenRecord): string {
  if (token.revokedAt !== undefined) return `revoked ${describeTime(token.revokedAt)}`
  return isUsable(token, Date.now()) ? 'in use' : 'expired'
}

async function findToken({ tokens }: Store, id: string): Promise<TokenRecord> {
  const token = await tokens.find(id)
  if (token !== undefined) return token
  throw new CommandError(
    `there is no token ${id}. Try: plant-store-server token list`,
    exitCodes.config,
  )
}

function tellIssued(terminal: Terminal, text: string, { id, name, expiresAt }: TokenRecord): void {
  terminal.out(`${text}\n`)
  terminal.err(
    `Token ${id} (${name}), expires: ${describeTime(expiresAt)}. It is shown this once.\n`,
  )
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

async function listTokens(store: Store, terminal: Terminal): Promise<void> {
  const rows = (await store.tokens.list()).map((token) => [
    token.id,
    token.name,
    describeState(token),
    describeTime(token.createdAt),
    describeTime(token.expiresAt),
    describeTime(token.lastUsedAt),
  ])
  terminal.out(table([['ID', 'NAME', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]))
}

async function revokeToken(store: Store, id: string, terminal: Terminal): Promise<void> {
  const { name } = await findToken(store, id)
  const isNew = await store.tokens.revoke(id, Date.now())
  terminal.err(
    isNew
      ? `Token ${id} (${name}) is revoked; running servers refuse it within 5 s.\n`
      : `Token ${id} (${name}) was revoked before.\n`,
  )
}

async function rotateToken(
  store: Store,
  id: string,
  overlapMs: number,
  terminal: Terminal,
): Promise<void> {
  const old = await findToken(store, id)
  const now = Date.now()
  if (!isUsable(old, now)) {
    throw new CommandError(
      `token ${id} is ${describeState(old)}. Try: plant-store-server token create --name ${old.name}`,
      exitCodes.config,
    )
  }
  const lifetimeMs = old.expiresAt === undefined ? undefined : old.expiresAt - old.createdAt
  const { text, record } = draftToken(old.name, lifetimeMs)
  await store.tokens.replace(id, now + overlapMs, record)
  tellIssued(terminal, text, record)
  terminal.err(`Token ${id} works until ${describeTime(now + overlapMs)}.\n`)
}

/** `token create`, `token list`, `token revoke`, `token rotate`. */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const token = program.command('token').description('make, list, revoke and rotate access tokens')

  addSettingFlags(token.command('create'), ['databaseUrl'])
    .description('make a token; it alone goes to standard output')
    .requiredOption('--name <name>', 'who will use it', parseName)
    .option('--expires <time>', 'such as 12h or 90d, or never', parseLifetime, DEFAULT_LIFETIME_MS)
    .action((options: Flags & { name: string; expires: number | undefined }) =>
      withStore(options, async (store) => {
        const { text, record } = await issueToken(store, options.name, options.expires)
        tellIssued(terminal, text, record)
      }),
    )

  addSettingFlags(token.command('list'), ['databaseUrl'])
    .description('list all tokens, oldest first')
    .action((options: Flags) => withStore(options, (store) => listTokens(store, terminal)))

  addSettingFlags(token.command('revoke'), ['databaseUrl'])
    .description('end a token now')
    .argument('<id>', 'its id, as `token list` shows it')
    .action((id: string, options: Flags) =>
      withStore(options, (store) => revokeToken(store, id, terminal)),
    )

  addSettingFlags(token.command('rotate'), ['databaseUrl'])
    .description('make a successor; the old token goes on for the overlap')
    .argument('<id>', 'its id, as `token list` shows it')
    .option('--overlap <time>', 'how long both work', parseDuration, UNIT_MS.d)
    .action((id: string, options: Flags & { overlap: number }) =>
      withStore(options, (store) => rotateToken(store, id, options.overlap, terminal)),
    )
}
