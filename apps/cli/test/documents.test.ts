import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ends, runProgram } from './helpers/program.ts'
import { openImporter } from './import/importer.ts'

const EXAMPLES = fileURLToPath(new URL('../../../examples/plants/', import.meta.url))

/** The rows of the table of examples. */
const rows = Array.from(
  readFileSync(join(EXAMPLES, 'README.md'), 'utf8').matchAll(
    /^\| `(\S+)` +\|.*?\| *(?:`(--.*)`)? *\|$/gm,
  ),
  ([, file = '', flags = '']) => ({ file, flags }),
)

test.each(rows)(
  '$file of the examples is imported with the flags of its row, apart from its mistakes',
  async ({ file, flags }) => {
    const { run, cwd, server } = await openImporter()
    cpSync(EXAMPLES, cwd, { recursive: true })
    const ended = await run(`${file} ${flags}`)
    expect(ended).toEqual(ends(3, /: 1[35] stored \(1 there already\), [57] rejected in /))
    expect(ended.stdout).toContain('id taken')
    expect(server.readPlants().size).toBeGreaterThanOrEqual(12)
  },
)

test('the exit codes of the page are those of the help', async () => {
  const page = readFileSync(new URL('../../../docs/importing.md', import.meta.url), 'utf8')
  const { stdout } = await runProgram(['--help'])
  const section = stdout.split('Exit codes:\n')[1]?.split('\n\n')[0] ?? ''
  const codes = Array.from(page.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm), ([, code, about]) => {
    return `  ${code?.padEnd(3)}  ${about}`
  })
  expect(codes.join('\n')).toBe(section)
})
