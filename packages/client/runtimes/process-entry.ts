import type * as Library from '../src/index.ts'
import type { RuntimeKind } from './case.ts'
import { runCases } from './run-cases.ts'

/** Arguments: the control's URL, the file URLs of the built client and of undici, the kind of runtime. */
const [controlUrl = '', libraryUrl = '', undiciUrl = '', runtime = 'node'] = process.argv.slice(2)

const library = (await import(libraryUrl)) as typeof Library
const kind = runtime as RuntimeKind
const results = await runCases({ controlUrl, library, undiciUrl, runtime: kind })

// Nothing is ended here: a process whose calls are done has nothing left to wait for.
process.stdout.write(`${JSON.stringify(results)}\n`)
