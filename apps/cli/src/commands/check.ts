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

const MOST_SHOWN = 20

/** Shows what is wrong with a file. @throws CliError where a row is no plant */
async function check(path: string, options: ReadOptions, terminal: Terminal): Promise<void> {
  const { input, records } = await openFile(path, options, terminal)
  const reasons = new ReasonCounts()
  let [valid, invalid] = [0, 0]
  for await (const { line, plant, problems = [] } of records()) {
    if (plant !== undefined) valid++
    else {
      reasons.add(reasonOf(problems))
      if (invalid++ < MOST_SHOWN) terminal.err(`  line ${line}: ${describeProblems(problems)}`)
    }
  }
  const counts = `${formatCount(valid)} valid, ${formatCount(invalid)} invalid`
  terminal.out(`${input.name}: ${counts}\n${reasons.describe()}`)
  if (invalid === 0) return
  const hint = 'plant-store import all the same, which stores the others and writes these to a file'
  // The counts above say it.
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
