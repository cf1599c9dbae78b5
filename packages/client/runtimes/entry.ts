import type * as Library from '../src/index.ts'
import type { RuntimeKind } from './case.ts'
import { runCases } from './run-cases.ts'

declare global {
  /** What a page has found out. */
  var problems: Promise<string[]>
}

/** Of a process: the control's URL, the file URLs of the built client and of undici, its kind. */
const args = globalThis.process?.argv.slice(2) ?? []
const [controlUrl = location.origin, libraryUrl = '/client.js', undiciUrl, kind = 'browser'] = args

const library: typeof Library = await import(libraryUrl)
globalThis.problems = runCases({ controlUrl, library, undiciUrl, runtime: kind as RuntimeKind })
// Nothing is ended here: a process whose calls are done has nothing left to wait for.
if (args.length > 0) process.stdout.write(`${JSON.stringify(await globalThis.problems)}\n`)
