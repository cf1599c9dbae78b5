import * as library from '../src/index.ts'
import { type CaseResult, runCases } from './run-cases.ts'

declare global {
  /** What the page has found out. */
  var caseResults: Promise<CaseResult[]>
}

globalThis.caseResults = runCases({
  controlUrl: location.origin,
  library,
  runtime: 'browser',
})
