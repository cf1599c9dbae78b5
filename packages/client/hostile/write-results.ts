import { writeFileSync } from 'node:fs'
import { pathOf } from './bundle.ts'
import { startHostileServer } from './hostile-server.ts'
import { BROWSER_TITLE, runInBrowser } from './run-in-browser.ts'
import { runInProcess } from './run-in-process.ts'
import { findRuntimes } from './runtimes.ts'
import { type Column, formatTable } from './table.ts'

const server = await startHostileServer()
const columns: Column[] = []
for (const runtime of findRuntimes()) {
  const { title, kind } = runtime
  columns.push({ title, kind, results: await runInProcess(runtime, server) })
}
await server.close()
columns.push({ title: BROWSER_TITLE, kind: 'browser', results: await runInBrowser() })
writeFileSync(pathOf('results.md'), formatTable(columns))
