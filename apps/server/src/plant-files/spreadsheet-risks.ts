import type { NewPlant } from '@plant-store/contract'

/** What spreadsheets take for the beginning of a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n\uff0b\uff0d\uff1d\uff20]/

/** Spreadsheets keep 15 digits of a number. */
const EXACT_IDS = 10n ** 15n

/** What of plants a spreadsheet would not show as it is; the file itself stays exact. */
export interface SpreadsheetRisks {
  count(plants: readonly NewPlant[]): void
  /** A line for each risk that was met. */
  describe(): string[]
}

function isFormula(text: string | undefined): boolean {
  return text !== undefined && FORMULA.test(text)
}

export function createSpreadsheetRisks(): SpreadsheetRisks {
  let formulas = 0
  let longIds = 0
  return {
    count(plants) {
      for (const { id, name, tag } of plants) {
        formulas += Number(isFormula(name)) + Number(isFormula(tag))
        if (id >= EXACT_IDS || id <= -EXACT_IDS) longIds++
      }
    },
    describe() {
      const told: string[] = []
      const shown = (count: number) => count.toLocaleString('en-US')
      if (formulas > 0) {
        told.push(
          `Not safe in a spreadsheet: names and tags that begin as a formula does: ${shown(formulas)}. Try: import every column as text`,
        )
      }
      if (longIds > 0) {
        told.push(
          `Not exact in a spreadsheet: ids with more than 15 digits: ${shown(longIds)}. Try: import every column as text`,
        )
      }
      return told
    },
  }
}
