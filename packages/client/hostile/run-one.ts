import { startHostileServer } from './hostile-server.ts'
import { runInBrowser } from './run-in-browser.ts'
import { runInProcess } from './run-in-process.ts'
import { findRuntimes } from './runtimes.ts'

const [title = '', only = ''] = process.argv.slice(2)
const server = await startHostileServer()
const runtime = findRuntimes().find((one) => one.title === title)
const results = runtime ? await runInProcess(runtime, server, only) : await runInBrowser()
await server.close()
for (const { holds, claim, ms, problem } of results) {
  if (!holds || only) console.log(holds ? 'ok  ' : 'FAIL', `${ms} ms`, claim, problem ?? '')
}
console.log(results.filter(({ holds }) => holds).length, 'of', results.length)
