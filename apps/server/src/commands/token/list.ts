import type { Command } from 'commander'
import { type Flags, loadConfig } from '../../config/config.ts'
import type { TokenRecord } from '../../store/store.ts'
import { displayName } from '../../text/display-name.ts'
import { AUDITED_SETTINGS, withAudit } from '../audit.ts'
import { addSettingFlags } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import { describeState, describeTime } from './report.ts'

const HEADINGS = ['ID', 'NAME', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED']

function rowOf(token: TokenRecord): string[] {
  const times = [token.createdAt, token.expiresAt, token.lastUsedAt].map(describeTime)
  return [token.id, displayName(token.name), describeState(token), ...times]
}

function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_heading, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  return lines.map((cells) => `${cells.join('  ').trimEnd()}\n`).join('')
}

/** `token list` */
export function addTokenList(token: Command, terminal: Terminal): void {
  addSettingFlags(token.command('list'), AUDITED_SETTINGS)
    .description('list all tokens, oldest first')
    .action((options: Flags) =>
      withAudit(
        { terminal, config: loadConfig(options), action: 'token.list' },
        async ({ tokens }) => {
          const rows = (await tokens.list()).map(rowOf)
          const report = () => terminal.out(formatTable([HEADINGS, ...rows]))
          return { fields: { tokens: rows.length }, report }
        },
      ),
    )
}
