import { type Command, InvalidArgumentError } from 'commander'
import {
  DEFAULT_LIFETIME_MS,
  draftToken,
  type IssuedToken,
  issueToken,
  isUsable,
} from '../auth/tokens.ts'
import { type Flags, loadConfig } from '../config/config.ts'
import type { Store, TokenRecord } from '../store/store.ts'
import { displayName } from '../text/display-name.ts'
import { type Audited, audit, auditFieldsOf } from './audit.ts'
import { addSettingFlags, withStore } from './command.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Fits a column of `token list` and holds nothing that a terminal would obey. */
const TOKEN_NAME = /^[\w.@:/+-]{1,64}$/

/** Enough time to replace the token everywhere it is used. */
const DEFAULT_OVERLAP_MS = 86_400_000

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

const HEADINGS = ['ID', 'NAME', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED']

function parseName(text: string): string {
  if (TOKEN_NAME.test(text)) return text
  throw new InvalidArgumentError('Use 1 to 64 letters, digits and . _ @ : / + - in a name.')
}

/** Milliseconds from `30m`, `24h` or `90d`. */
function readDuration(text: string, more = ''): number {
  const [, digits, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  const duration = Number(digits) * (UNIT_MS[unit] ?? 0)
  if (duration > 0) return duration
  throw new InvalidArgumentError(`Write a number and m, h or d, such as 30m, 24h or 90d${more}.`)
}

function parseLifetime(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : readDuration(text, ', or never')
}

/** A time to the minute in UTC, or `never`. */
function describeTime(time: number | undefined): string {
  return time === undefined ? 'never' : `${new Date(time).toISOString().slice(0, 16)}Z`
}

function describeState(token: TokenRecord): string {
  if (token.revokedAt !== undefined) return `revoked ${describeTime(token.revokedAt)}`
  return isUsable(token, Date.now()) ? 'in use' : 'expired'
}

/** The token alone goes to standard output, so that a script can take it from there. */
function reportIssued(terminal: Terminal, { text, record }: IssuedToken): void {
  const { id, name, expiresAt } = record
  terminal.out(`${text}\n`)
  terminal.err(
    `Token ${id} (${displayName(name)}), expires: ${describeTime(expiresAt)}. It is shown this once.\n`,
  )
}

/** @throws CommandError when there is no such token. */
async function findToken({ tokens }: Store, id: string): Promise<TokenRecord> {
  const token = await tokens.find(id)
  if (token !== undefined) return token
  throw new CommandError(`there is no token ${displayName(id)}`, exitCodes.config, {
    fix: 'plant-store-server token list',
  })
}

interface Options extends Flags {
  readonly name: string
  readonly expires?: number
  readonly overlap?: number
}

type Work = (store: Store, options: Options, id: string, terminal: Terminal) => Promise<Audited>

const create: Work = async (store, { name, expires = DEFAULT_LIFETIME_MS }, _id, terminal) => {
  const issued = await issueToken(store, name, expires)
  return { fields: auditFieldsOf(issued.record), report: () => reportIssued(terminal, issued) }
}

const list: Work = async ({ tokens }, _options, _id, terminal) => {
  const records = (await tokens.list()).map((token) => {
    const times = [token.createdAt, token.expiresAt, token.lastUsedAt].map(describeTime)
    return [token.id, displayName(token.name), describeState(token), ...times]
  })
  const rows = [HEADINGS, ...records]
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  const report = () =>
    terminal.out(lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join(''))
  return { fields: { tokens: rows.length - 1 }, report }
}

const revoke: Work = async (store, _options, id, terminal) => {
  const token = await findToken(store, id)
  const isNew = await store.tokens.revoke(id, Date.now())
  const what = isNew ? 'is revoked; running servers refuse it within 5 s' : 'was revoked before'
  return {
    fields: { ...auditFieldsOf(token), wasRevokedBefore: !isNew },
    report: () => terminal.err(`Token ${id} (${displayName(token.name)}) ${what}.\n`),
  }
}

const rotate: Work = async (store, { overlap = DEFAULT_OVERLAP_MS }, id, terminal) => {
  const old = await findToken(store, id)
  const now = Date.now()
  if (!isUsable(old, now)) {
    const fix = `plant-store-server token create --name ${displayName(old.name)}`
    throw new CommandError(`token ${id} is ${describeState(old)}`, exitCodes.config, { fix })
  }
  const oldEnd = old.expiresAt ?? Number.POSITIVE_INFINITY
  const successor = draftToken(old.name, oldEnd - old.createdAt)
  await store.tokens.replace(id, now + overlap, successor.record)
  const end = Math.min(now + overlap, oldEnd)
  const { tokenId: successorId, expires: successorExpires } = auditFieldsOf(successor.record)
  return {
    fields: { ...auditFieldsOf({ ...old, expiresAt: end }), successorId, successorExpires },
    report() {
      reportIssued(terminal, successor)
      terminal.err(`Token ${id} works until ${describeTime(end)}.\n`)
    },
  }
}

/** `token create --name N [--expires 90d|never]`, `list`, `revoke ID`, `rotate ID [--overlap 24h]` */
export function addTokenCommands(program: Command, terminal: Terminal): void {
  const group = program.command('token').description('make, list, revoke and rotate access tokens')
  const ID = ['<id>', 'its id, as `token list` shows it'] as const
  function add(name: string, about: string, work: Work): Command {
    return addSettingFlags(group.command(name), ['databaseUrl', 'allowDataLoss', 'auditFile'])
      .description(about)
      .action((...args: readonly (string | Options | Command)[]) => {
        const [options, id] = args.slice(0, -1).toReversed() as [Options, string?]
        const config = loadConfig(options)
        const about: { store?: string } = {}
        const use = (store: Store) => {
          about.store = store.description
          return work(store, options, id ?? '', terminal)
        }
        return audit(`token.${name}`, config, terminal, about, () =>
          withStore(terminal, config, use),
        )
      })
  }
  add('create', 'make a token; it alone goes to standard output', create)
    .requiredOption('--name <name>', 'who will use it', parseName)
    .option('--expires <time>', 'such as 12h or 90d, or never (default: 90d)', parseLifetime)
  add('list', 'list all tokens, oldest first', list)
  add('revoke', 'end a token now', revoke).argument(...ID)
  add('rotate', 'make a new token; the old one works until the overlap ends', rotate)
    .argument(...ID)
    .option('--overlap <time>', 'how long both work (default: 24h)', (text) => readDuration(text))
}
