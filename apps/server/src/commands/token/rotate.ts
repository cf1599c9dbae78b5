import type { Command } from 'commander'
import { draftToken, isUsable } from '../../auth/tokens.ts'
import { type Flags, loadConfig } from '../../config/config.ts'
import type { Store } from '../../store/store.ts'
import { displayName } from '../../text/display-name.ts'
import { quoteForShell } from '../../text/quote-for-shell.ts'
import { AUDITED_SETTINGS, type Audited, auditFieldsOf, withAudit } from '../audit.ts'
import { addSettingFlags } from '../command.ts'
import { CommandError, exitCodes } from '../command-error.ts'
import type { Terminal } from '../terminal.ts'
import { parseDuration } from './duration.ts'
import { describeState, describeTime, findToken, reportIssued } from './report.ts'

/** Enough time to replace the token everywhere it is used. */
const DEFAULT_OVERLAP_MS = 86_400_000

async function rotate(
  store: Store,
  id: string,
  overlapMs: number,
  terminal: Terminal,
): Promise<Audited> {
  const old = await findToken(store, id)
  const now = Date.now()
  if (!isUsable(old, now)) {
    const create = `plant-store-server token create --name ${quoteForShell(displayName(old.name))}`
    throw new CommandError(`token ${id} is ${describeState(old)}. Try: ${create}`, exitCodes.config)
  }
  const lifetimeMs = (old.expiresAt ?? Number.POSITIVE_INFINITY) - old.createdAt
  const successor = draftToken(old.name, lifetimeMs)
  await store.tokens.replace(id, now + overlapMs, successor.record)
  const end = Math.min(now + overlapMs, old.expiresAt ?? Number.POSITIVE_INFINITY)
  const { tokenId: successorId, expires: successorExpires } = auditFieldsOf(successor.record)
  return {
    fields: { ...auditFieldsOf({ ...old, expiresAt: end }), successorId, successorExpires },
    report: () => {
      reportIssued(terminal, successor)
      terminal.err(`Token ${id} works until ${describeTime(end)}.\n`)
    },
  }
}

/** `token rotate ID [--overlap 24h]` */
export function addTokenRotate(token: Command, terminal: Terminal): void {
  addSettingFlags(token.command('rotate'), AUDITED_SETTINGS)
    .description('make a new token; the old one works until the overlap ends')
    .argument('<id>', 'its id, as `token list` shows it')
    .option('--overlap <time>', 'how long both work (default: 24h)', parseDuration)
    .action((id: string, options: Flags & { overlap?: number }) =>
      withAudit({ terminal, config: loadConfig(options), action: 'token.rotate' }, (store) =>
        rotate(store, id, options.overlap ?? DEFAULT_OVERLAP_MS, terminal),
      ),
    )
}
