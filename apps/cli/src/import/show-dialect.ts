import { type Dialect, describeDialect, type PlantFileReader } from '@plant-store/plant-files'
import { CliError } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { ask } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'

const MAX_CELL = 24

function showSample({ sample }: Dialect, terminal: Terminal): void {
  const cells = sample.map((row) => row.map((cell) => Array.from(cell).slice(0, MAX_CELL).join('')))
  const widths = cells[0]?.map((_, column) => {
    return Math.max(...cells.map((row) => row[column]?.length ?? 0))
  })
  for (const row of cells) {
    const shown = row.map((cell, column) => cell.padEnd(widths?.[column] ?? 0)).join('  ')
    terminal.err({ style: 'dim', text: `  ${shown.slice(0, terminal.columns - 3).trimEnd()}` })
  }
}

/**
 * Shows how a file is read and, where a guess may be wrong, asks.
 * @throws CliError where nobody can be asked, or the answer is no.
 */
export async function confirmDialect(
  name: string,
  { dialect }: PlantFileReader,
  terminal: Terminal,
  takesGuess: boolean,
): Promise<void> {
  terminal.err({ style: 'bold', text: name }, `: ${describeDialect(dialect)}`)
  showSample(dialect, terminal)
  const [doubt] = dialect.doubts
  if (doubt === undefined || takesGuess) return
  if (!terminal.isInteractive) {
    throw new CliError(`${name}: ${doubt.question}`, exitCodes.usage, {
      hint: `${doubt.flag}, or --yes to take it as it is shown`,
    })
  }
  for (const { question } of dialect.doubts) terminal.err(`  ${question}`)
  const answer = await ask(terminal, 'Is this right? [Y/n] ')
  if (/^(?:y(?:es)?)?$/i.test(answer.trim())) return
  throw new CliError(`${name} is not imported`, exitCodes.usage, { hint: doubt.flag })
}
