import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScreen, runProgram, startProgram } from './helpers/program.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

/** Neither server nor login is needed: nothing is reachable here. */
const env = { HOME: '/nonexistent', PLANT_STORE_BASE_URL: 'http://127.0.0.1:1' }

const INT64 = 'must be an integer between -9223372036854775808 and 9223372036854775807'
const TRY =
  'Try: plant-store import all the same, which stores the others and writes these to a file'

/** A folder with a file in it. */
function place(name: string, content: string | Uint8Array): string {
  const cwd = makeTemporaryFolder()
  writeFileSync(join(cwd, name), content)
  return cwd
}

test.each([
  [
    'finds every row a plant',
    'id,name,tag\n9007199254740993,Fern,indoor\n-5,Moss,\n',
    [0, 'p.csv: 2 rows are plants\n', 'p.csv: CSV ",", utf-8, columns id, name, tag\n'],
  ],
  [
    'shows every problem with its line and its column, as the file names it',
    'Id;NAME\r\n1;Fern\r\nseven;Moss\r\n\r\n9;"Ivy\r\nclimbs"\r\n9223372036854775808;\r\n',
    [
      3,
      `p.csv:3: Id: "seven" ${INT64}\np.csv:7: Id: "9223372036854775808" ${INT64}; NAME: is required\np.csv: 2 rows are plants, 2 are not\n`,
      `p.csv: CSV ";", utf-8, columns Id→id, NAME→name\n  ${TRY}\n`,
    ],
  ],
  [
    'counts one row as one',
    'id,name\n1,Fern\n2,\n',
    [
      3,
      'p.csv:3: name: is required\np.csv: 1 row is a plant, 1 is not\n',
      expect.stringContaining(TRY),
    ],
  ],
])('%s, without a server', async (_what, content, [code, stdout, stderr]) => {
  const cwd = place('p.csv', content)
  expect(await runProgram(['check', 'p.csv'], { env, cwd })).toEqual({ code, stdout, stderr })
})

test('the first 20 problems are shown and the others counted by kind', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => `x${index},Fern\n`)
  const cwd = place('p.csv', `id,name\n${rows.join('')}`)
  const { stdout } = await runProgram(['check', 'p.csv'], { env, cwd })
  expect(stdout.match(/"x\d+"/g)?.length).toBe(20)
  expect(stdout).toMatch(/p\.csv: 10 more\. All, by kind:\n {2}30 {2}id: /)
})

test.each([
  ['none.csv', 'there is no file'],
  ['plants.xlsx', 'save it as CSV'],
  ['empty.csv', 'it is empty'],
  ['folder', 'is a folder'],
])('%s is wrong input: %s', async (name, said) => {
  const cwd = place('plants.xlsx', 'PK\x03\x04xxxx')
  writeFileSync(join(cwd, 'empty.csv'), '')
  mkdirSync(join(cwd, 'folder'))
  const stderr = expect.stringContaining(said)
  expect(await runProgram(['check', name], { env, cwd })).toEqual({ code: 2, stdout: '', stderr })
})

test('what a file holds does not control the terminal', async () => {
  const cwd = place('p.csv', 'id,name,\x1b[31mred\n"\x1b[2J\r\nno plant",Fern,\n')
  const screen = openScreen(['check', 'p.csv'], { env, cwd })
  expect(await screen.ended).toBe(3)
  expect(screen.written()).not.toContain('\x1b')
  expect(screen.text()).not.toMatch(/^no plant/m)
})

test('a signal ends a check with 130, also where stdin gives nothing more', async () => {
  const child = startProgram(['check', '-'], { env })
  child.stdin.write(`id,name\n${'1,Fern\n'.repeat(20_000)}`)
  await once(child.stderr, 'data')
  child.kill('SIGINT')
  expect(await once(child, 'close')).toEqual([130, null])
  const silent = startProgram(['import', '-'], { env })
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  silent.kill('SIGINT')
  expect(await once(silent, 'close')).toEqual([130, null])
})
