import type { Command } from 'commander'
import { CliError, exitCodes } from '../cli-error.ts'
import { addFileOptions, openFile } from '../import/open-file.ts'
import type { ReadOptions } from '../import/plant-file.ts'
import { describeProblems, ReasonCounts, reasonOf } from '../import/plant-record.ts'
import { formatCount } from '../import/progress.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  plant-store check plants.csv
  plant-store check --delimiter semicolon --map "Plant No=id" export.csv
  zcat plants.jsonl.gz | plant-store check -`

const SHOWN = 20

/** Line breaks stand in names of files, too. */
function writeLine(terminal: Terminal, text: string): void {
  terminal.out(`${text.replaceAll('\n', '\\u000a')}\n`)
}

/** Shows what is wrong with a file. @throws CliError where a row is no plant */
async function check(path: string, options: ReadOptions, terminal: Terminal): Promise<void> {
  const { input, records } = await openFile(path, options, terminal)
  const reasons = new ReasonCounts()
  let [plants, others] = [0, 0]
  for await (const { line, problems } of records()) {
    if (problems === undefined) {
      plants++
      continue
    }
    reasons.add(reasonOf(problems))
    if (others++ < SHOWN) {
      writeLine(terminal, `${input.name}:${line}: ${describeProblems(problems)}`)
    }
  }
  if (others > SHOWN) {
    writeLine(terminal, `${input.name}: ${formatCount(others - SHOWN)} more. All, by kind:`)
    terminal.out(reasons.describe())
  }
  const are = plants === 1 ? 'row is a plant' : 'rows are plants'
  const not = others === 0 ? '' : `, ${formatCount(others)} ${others === 1 ? 'is' : 'are'} not`
  writeLine(terminal, `${input.name}: ${formatCount(plants)} ${are}${not}`)
  if (others === 0) return
  // The counts above say it.
  const hint = 'plant-store import all the same, which stores the others and writes these to a file'
  throw new CliError('', exitCodes.rejected, hint)
}

export function addCheckCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('check')
    .description('check every row of a file, without a plant store; - is stdin')
    .argument('<file>', 'CSV or JSON lines')
    .optionsGroup('How the file is written:')
  addFileOptions(command)
    .addHelpText('after', EXAMPLES)
    .action((path: string, options: ReadOptions) => check(path, options, terminal))
}
