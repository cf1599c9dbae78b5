import { type Command, InvalidArgumentError } from 'commander'
import { DEFAULT_LIFETIME_MS, issueToken } from '../../auth/tokens.ts'
import { type Flags, loadConfig } from '../../config/config.ts'
import { AUDITED_SETTINGS, auditFieldsOf, withAudit } from '../audit.ts'
import { addSettingFlags } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { parseLifetime } from './duration.ts'
import { reportIssued } from './report.ts'

/** Fits a column of `token list` and holds nothing that a terminal would obey. */
const TOKEN_NAME = /^[\w.@:/+-]{1,64}$/

function parseName(text: string): string {
  if (TOKEN_NAME.test(text)) return text
  throw new InvalidArgumentError('Use 1 to 64 letters, digits and . _ @ : / + - in a name.')
}

/** `token create --name N [--expires 90d|never]` */
export function addTokenCreate(token: Command, terminal: Terminal): void {
  addSettingFlags(token.command('create'), AUDITED_SETTINGS)
    .description('make a token; it alone goes to standard output')
    .requiredOption('--name <name>', 'who will use it', parseName)
    .option('--expires <time>', 'such as 12h or 90d, or never (default: 90d)', parseLifetime)
    .action((options: Flags & { name: string; expires?: number }) =>
      withAudit(
        { terminal, config: loadConfig(options), action: 'token.create' },
        async (store) => {
          const { name, expires = DEFAULT_LIFETIME_MS } = options
          const issued = await issueToken(store, name, expires)
          return {
            fields: auditFieldsOf(issued.record),
            report: () => reportIssued(terminal, issued),
          }
        },
      ),
    )
}
