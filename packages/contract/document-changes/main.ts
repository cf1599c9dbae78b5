import {
  formatReport,
  makeCurrentDocument,
  readPublishedDocument,
  reportChanges,
} from './report.ts'

const report = reportChanges(readPublishedDocument(), makeCurrentDocument())
process.stdout.write(formatReport(report))
process.exitCode = report.isTold ? 0 : 1
