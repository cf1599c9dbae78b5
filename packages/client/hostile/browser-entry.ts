import * as library from '../src/index.ts'
import * as restLibrary from '../src/rest.ts'
import { type CaseResult, runCases } from './run-cases.ts'

declare global {
  /** What the page has found out. */
  var hostileResults: Promise<CaseResult[]>
}

globalThis.hostileResults = runCases({
  controlUrl: location.origin,
  library,
  restLibrary,
  runtime: 'browser',
})
