import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/temporary-folder.ts'
import { ends, openScreen, runProgram, startProgram } from './helpers/program.ts'

/** Neither server nor login is needed: nothing is reachable here. */
const env = { HOME: '/nonexistent', PLANT_STORE_BASE_URL: 'http://127.0.0.1:1' }

const INT64 = 'must be an integer between -9223372036854775808 and 9223372036854775807'
const TRY = `  Try: plant-store import all the same, which stores the others and writes these to a file\n`

/** Where a file of plants is, with others that are none. */
function place(content: string) {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'p.csv'), content)
  mkdirSync(join(cwd, 'folder'))
  return { cwd, env }
}

test('a file of plants is found whole, without a server', async () => {
  const at = place('id,name,tag\n9007199254740993,Fern,indoor\n-5,Moss,\n')
  const stderr = 'p.csv: CSV ",", utf-8, columns id, name, tag\n'
  const whole = { code: 0, stdout: 'p.csv: 2 valid, 0 invalid\n', stderr }
  expect(await runProgram(['check', 'p.csv'], at)).toEqual(whole)
})

test('every problem has its line and its column, as the file names it', async () => {
  const beyond = '9223372036854775808'
  const at = place(`Id;NAME\r\n1;Fern\r\nseven;Moss\r\n\r\n"9";"a\r\nb"\r\n${beyond};\r\n`)
  const lines = `  line 3: Id: "seven" ${INT64}\n  line 7: Id: "${beyond}" ${INT64}; NAME: is required\n`
  const ended = await runProgram(['check', 'p.csv'], at)
  expect(ended).toEqual(ends(3, /^p\.csv: 2 valid, 2 invalid\n/, `${lines}${TRY}`))
})

test('the first 20 problems are shown, and all are counted by reason', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => `x${index},Fern\n`).join('')
  const at = place(`id,name\n1,M\n${rows}${'2,\n'.repeat(7)}`)
  const { stdout, stderr } = await runProgram(['check', 'p.csv'], at)
  expect(stderr.match(/"x\d+"/g)?.length).toBe(20)
  const counts = `  30  id: ${INT64}\n   7  name: is required\n`
  expect(stdout).toBe(`p.csv: 1 valid, 37 invalid\n${counts}`)
})

test.each([
  ['none.csv', 'there is no file'],
  ['p.csv', 'it is empty'],
  ['folder', 'is a folder'],
])('%s is wrong input: %s', async (name, said) => {
  expect(await runProgram(['check', name], place(''))).toEqual(ends(2, /^$/, said))
})

test('what a file holds does not control the terminal', async () => {
  const at = place('id,name,\x1b[31mred\n"\x1b[2J\r\nno plant",Fern,\n')
  const screen = openScreen(['check', 'p.csv'], at)
  expect(await screen.ended).toBe(3)
  expect(screen.written()).not.toContain('\x1b')
  expect(screen.text()).not.toMatch(/^no plant/m)
})

test('a signal ends a check with 130, also where stdin or a pipe gives nothing more', async () => {
  const child = startProgram(['check', '-'], { env })
  child.stdin.write(`id,name\n${'1,Fern\n'.repeat(20_000)}`)
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  expect(await once(child, 'close')).toEqual([130, null])
  const pipe = join(temporaryFolder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const silent = ['-', pipe].map((path) => startProgram(['import', path], { env }))
  const closed = Promise.all(silent.map((one) => once(one, 'close')))
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  for (const one of silent) one.kill('SIGINT')
  expect(await closed).toEqual(Array(2).fill([130, null]))
})
