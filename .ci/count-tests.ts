import { globSync, readFileSync } from 'node:fs'

/** The part of vitest's JSON report that counts. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly success: boolean
}

const files = globSync('{docs,examples,packages/*,apps/*}/test-results.json')
const reports = files.map((file): Report => JSON.parse(readFileSync(file, 'utf8')))

function sum(count: (report: Report) => number): number {
  return reports.map(count).reduce((one, other) => one + other, 0)
}

const passed = sum((report) => report.numPassedTests)
const failed = sum((report) => report.numFailedTests)
const skipped = sum((report) => report.numPendingTests + report.numTodoTests)

console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
const isComplete = passed > 0 && skipped === 0 && reports.every((report) => report.success)
process.exitCode = isComplete ? 0 : 1
