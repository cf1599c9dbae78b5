import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { PROGRAM, runProgram } from './helpers/program.ts'
import { startServer } from './helpers/server.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

function blocksIn(language: string): string[] {
  const blocks = README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))
  return Array.from(blocks, ([, text = '']) => text)
}

test('each command of the README prints what the README shows', { timeout: 60_000 }, async () => {
  const server = await startServer()
  const folder = makeTemporaryFolder()
  mkdirSync(join(folder, 'bin'))
  const program = join(folder, 'bin/plant-store')
  writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`)
  chmodSync(program, 0o755)
  writeFileSync(join(folder, 'plants.csv'), blocksIn('csv')[0] ?? '')
  const env = {
    HOME: folder,
    PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`,
    PLANT_STORE_BASE_URL: server.url,
    PLANT_STORE_TOKEN: server.token,
  }
  const blocks = blocksIn('console')
  expect(blocks.length).toBe(2)
  for (const block of blocks) {
    for (const [, command = '', shown] of block.matchAll(/^\$ (.*)\n((?:[^$].*\n)*)/gm)) {
      const options = { cwd: folder, env }
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} 2>&1; true`], options)
      expect(stdout.trimEnd(), command).toBe(shown?.trimEnd())
    }
  }
})

test("the README's exit codes are those of the help", async () => {
  const { stdout } = await runProgram(['--help'])
  const section = stdout.split('Exit codes:\n')[1]?.split('\n\n')[0] ?? ''
  const rows = Array.from(README.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm), ([, code, about]) => {
    return `  ${code?.padEnd(3)}  ${about}`
  })
  expect(rows.join('\n')).toBe(section)
})
