import type * as Library from '../src/index.ts'
import type { RuntimeKind } from './case.ts'
import { runCases } from './run-cases.ts'

/** Arguments: the control's URL, the file URL of the client under test, the kind of runtime. */
const [controlUrl = '', libraryUrl = '', runtime = 'node', only = ''] = process.argv.slice(2)

const library = (await import(libraryUrl)) as typeof Library
const results = await runCases({ controlUrl, library, runtime: runtime as RuntimeKind, only })

// Nothing is ended here: a process whose calls are done has nothing left to wait for.
process.stdout.write(`${JSON.stringify(results)}\n`)
