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

/** The number that a person gave, undefined for none. */
function readNumber(answer: string, least: number, most: number): number | undefined {
  if (answer === '') return undefined
  const number = /^\d{1,15}$/.test(answer) ? Number(answer) : -1
  return number >= least && number <= most
    ? number
    : stop(`${inQuotes(answer)} is no number of these`)
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
    const id = firstId === undefined ? [] : [`id ${firstId + BigInt(number)}`]
    terminal.err(`  ${[...id, ...cells].join(', ')}`)
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
  terminal: Terminal,
): Promise<Pick<ReadOptions, 'csv' | 'numberRows'>> {
  const columns: Column[] = [...dialect.columns]
  for (const [index, { name }] of columns.entries()) {
    const values = rows.map((row) => inQuotes(row[index] ?? '')).join(', ')
    terminal.err(`  ${String(index + 1).padStart(2)}  ${inQuotes(name)}: ${values}`)
  }
  let numberRows: bigint | undefined
  for (const field of plantFieldNames) {
    if (columns.filter((column) => column.field === field).length === 1) continue
    const none = field === 'id' ? ', or none to number the rows' : ''
    const other = plantFields[field].isRequired ? none : ', or none'
    const answer = await ask(terminal, `Which column is the ${field}? Its number${other}: `)
    const number = readNumber(answer, 1, columns.length)
    for (const [index, { name, field: own }] of columns.entries()) {
      const isIt = index + 1 === number
      columns[index] = { name, field: isIt ? field : own === field ? undefined : own }
    }
    if (number === undefined && field === 'id') {
      const first = await ask(terminal, 'The id of the first row [1]: ')
      numberRows = BigInt(readNumber(first, 0, Number.MAX_SAFE_INTEGER) ?? 1)
    } else if (number === undefined && plantFields[field].isRequired) {
      stop(`no column is the ${field}`)
    }
  }
  await confirm(rows, columns, numberRows, terminal)
  return { csv: { ...dialect, columns }, numberRows }
}
