import type { NewPlant } from '@plant-store/contract'
import { plantFieldNames, plantFields } from './plant-fields.ts'

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/

/** Spreadsheets keep 15 digits of a number. */
const EXACT = 10n ** 15n

/** What a spreadsheet would not show of plants as it is; the file itself stays exact. */
export interface SpreadsheetRisks {
  count(plants: readonly NewPlant[]): void
  /** A line for each risk that was met. */
  describe(): string[]
}

function isFormula(value: unknown): boolean {
  return FORMULA.test(String(value ?? ''))
}

function isInexact(value: unknown): boolean {
  return typeof value === 'bigint' && (value >= EXACT || value <= -EXACT)
}

const textFields = plantFieldNames.filter((field) => plantFields[field].isText)
const numberFields = plantFieldNames.filter((field) => !plantFields[field].isText)

/** `names and tags` */
function inWords(fields: readonly string[]): string {
  return fields.map((field) => `${field}s`).join(' and ')
}

export function createSpreadsheetRisks(): SpreadsheetRisks {
  let formulas = 0
  let longNumbers = 0

  function describe(risk: string, count: number): string[] {
    if (count === 0) return []
    return [`${risk}: ${count.toLocaleString('en-US')}. Try: import every column as text`]
  }

  return {
    count(plants) {
      for (const plant of plants) {
        formulas += textFields.filter((field) => isFormula(plant[field])).length
        longNumbers += numberFields.filter((field) => isInexact(plant[field])).length
      }
    },
    describe: () => [
      ...describe(
        `Not safe in a spreadsheet: ${inWords(textFields)} that begin as a formula does`,
        formulas,
      ),
      ...describe(
        `Not exact in a spreadsheet: ${inWords(numberFields)} with more than 15 digits`,
        longNumbers,
      ),
    ],
  }
}
