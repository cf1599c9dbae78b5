import { CliError, exitCodes } from '../cli-error.ts'
import { plantFieldNames, plantFields } from '../plant-fields.ts'
import { ask } from '../prompt.ts'
import type { Terminal } from '../terminal.ts'
import type { Column } from './columns.ts'
import type { UnclearCsv } from './csv.ts'
import type { ReadOptions } from './plant-file.ts'
import { inQuotes } from './plant-record.ts'

function stop(why: string): never {
  throw new CliError(`${why}; nothing was done`, exitCodes.usage)
}

/** Asks for a number from `least` to `most`, until it is one; undefined for none. */
async function askNumber(
  question: string,
  [least, most]: readonly [number, number],
  terminal: Terminal,
): Promise<number | undefined> {
  for (;;) {
    const answer = await ask(terminal, question)
    if (answer === '') return undefined
    const number = /^\d{1,15}$/.test(answer) ? Number(answer) : -1
    if (number >= least && number <= most) return number
    terminal.err(`  ${inQuotes(answer)} is no number from ${least} to ${most}`)
  }
}

/** Shows what the first rows would be, and asks whether that is right; the default is that it is not. */
async function confirm(
  rows: UnclearCsv['rows'],
  columns: readonly Column[],
  firstId: bigint | undefined,
  terminal: Terminal,
): Promise<void> {
  terminal.err('The first plants:')
  for (const [number, row] of rows.entries()) {
    const cells = columns.flatMap(({ field }, index) => {
      return field === undefined ? [] : [`${field} ${inQuotes(row[index] ?? '')}`]
    })
    if (firstId !== undefined) cells.unshift(`id ${firstId + BigInt(number)}`)
    terminal.err(`  ${cells.join(', ')}`)
  }
  const answer = await ask(terminal, 'Is this right? [y/N] ')
  if (!/^y(?:es)?$/i.test(answer)) stop('it was not right')
}

/**
 * Asks a person which column is which, and whether to number the rows, of all that is not clear.
 * @throws CliError where they do not say it
 */
export async function askColumns(
  { dialect, rows }: UnclearCsv,
  { numberRows: firstId }: ReadOptions,
  terminal: Terminal,
): Promise<Pick<ReadOptions, 'csv' | 'numberRows'>> {
  let [columns, numberRows] = [dialect.columns, firstId]
  for (const [index, { name }] of columns.entries()) {
    const values = rows.map((row) => inQuotes(row[index] ?? '')).join(', ')
    terminal.err(`  ${String(index + 1).padStart(2)}  ${inQuotes(name)}: ${values}`)
  }
  for (const field of plantFieldNames) {
    const isNumbered = field === 'id' && numberRows !== undefined
    if (isNumbered || columns.filter((column) => column.field === field).length === 1) continue
    const { isRequired } = plantFields[field]
    const none =
      field === 'id' ? ', or Enter to number the rows' : isRequired ? '' : ', or Enter for none'
    const question = `Which column is the ${field}? Type its number${none}: `
    const number = await askNumber(question, [1, columns.length], terminal)
    columns = columns.map(({ name, field: own }, index) => {
      return { name, field: index + 1 === number ? field : own === field ? undefined : own }
    })
    if (number !== undefined || !isRequired) continue
    if (field !== 'id') stop(`no column is the ${field}`)
    const most = Number.MAX_SAFE_INTEGER
    const first = await askNumber('The id of the first row [1]: ', [0, most], terminal)
    numberRows = BigInt(first ?? 1)
  }
  await confirm(rows, columns, numberRows, terminal)
  return { csv: { ...dialect, columns }, numberRows }
}
