import { parseArgs } from 'node:util'
import { killImports } from './kill-imports.ts'

/** Kills imports a hundred times while they store 200,000 rows, and looks for each row afterwards. */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '200000' },
    kills: { type: 'string', default: '100' },
    'longest-ms': { type: 'string', default: '2000' },
    server: { type: 'boolean', default: false },
  },
})

const outcome = await killImports({
  rows: Number(values.rows),
  kills: Number(values.kills),
  longestMs: Number(values['longest-ms']),
  killsServer: values.server,
  log: console.log,
})
console.log(
  `${outcome.kills} kills, ${outcome.sentAgain} rows sent again, exit code ${outcome.exitCode}`,
)
for (const what of outcome.wrong.slice(0, 20)) console.log(what)
process.exitCode = outcome.wrong.length > 0 || outcome.exitCode !== 3 ? 1 : 0
