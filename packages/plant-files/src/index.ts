export { formatOfFile, type PlantFileFormatName, plantFileFormats } from './plant-file.ts'
export { escapeUnits, printable, printableLine } from './printable.ts'
export { PlantFileError, type PlantRecord } from './record.ts'
export { createSpreadsheetRisks } from './spreadsheet-risks.ts'
