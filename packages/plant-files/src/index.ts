export { describeDelimiter, describeDialect } from './describe-dialect.ts'
export {
  type Column,
  type Delimiter,
  type Dialect,
  type Doubt,
  delimiters,
  type Encoding,
  encodings,
  type ReadOptions,
} from './dialect.ts'
export { openPlantFile, type PlantFileReader } from './open-plant-file.ts'
export { type FieldText, type PlantField, plantFieldNames, plantFields } from './plant-fields.ts'
export { formatOfFile, type PlantFileFormatName, plantFileFormats } from './plant-file.ts'
export {
  PlantFileError,
  type PlantRecord,
  type RecordProblem,
  type RecordSource,
} from './plant-record.ts'
export { escapeUnits, printable, printableLine } from './printable.ts'
export {
  formatSeconds,
  type Progress,
  type ProgressMode,
  type ProgressState,
  type ProgressTarget,
  progressModes,
  startProgress,
} from './progress.ts'
export { parseDelimiter, parseMapping } from './read-flags.ts'
export { createRejectsWriter, type Rejection, type RejectsWriter } from './rejects.ts'
export { rejectsPathsOf } from './rejects-path.ts'
export { createRejectsSummary, type RejectsSummary, reasonOf } from './rejects-summary.ts'
export { createSpreadsheetRisks } from './spreadsheet-risks.ts'
