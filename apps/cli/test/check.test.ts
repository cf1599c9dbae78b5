import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openScreen, runProgram, startProgram } from './helpers/program.ts'
import { makeTemporaryFolder } from './helpers/temporary-folder.ts'

function writeFile(name: string, content: string | Uint8Array): string {
  const path = join(makeTemporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

/** Neither server nor login is needed: nothing is reachable here. */
const env = { HOME: '/nonexistent', PLANT_STORE_BASE_URL: 'http://127.0.0.1:1' }

test('a file of plants is found whole, without a server', async () => {
  const path = writeFile('plants.csv', 'id,name,tag\n9007199254740993,Fern,indoor\n-5,Moss,\n')
  const { code, stdout, stderr } = await runProgram(['check', path], { env })
  expect([code, stdout]).toEqual([0, 'plants.csv: 2 rows are plants\n'])
  expect(stderr).toMatch(/^plants\.csv: CSV ",", utf-8, columns id, name, tag\n$/)
})

test('every problem has its line and column, as the file names it', async () => {
  const path = writeFile(
    'export.csv',
    'Plant No;Name\r\n1;Fern\r\nseven;Moss\r\n\r\n9;"Ivy\r\nclimbs"\r\n9223372036854775808;\r\n',
  )
  const args = ['check', '--map', 'Plant No=id', path]
  const { code, stdout, stderr } = await runProgram(args, { env })
  expect(code).toBe(3)
  const lines = stdout.trimEnd().split('\n')
  expect(lines.length).toBe(3)
  expect(lines[0]).toMatch(/^export\.csv:3: Plant No: "seven" /)
  expect(lines[1]).toMatch(/^export\.csv:7: Plant No: "9223372036854775808" .*; Name: is required$/)
  expect(lines[2]).toBe('export.csv: 2 rows are plants, 2 are not')
  expect(stderr).toMatch(/^export\.csv: .*\n {2}Try: plant-store import .*\n$/)
})

test('one row is no plural', async () => {
  const path = writeFile('plants.csv', 'id,name\n1,Fern\n2,\n')
  const { code, stdout } = await runProgram(['check', path], { env })
  expect(code).toBe(3)
  expect(stdout).toBe('plants.csv:3: name: is required\nplants.csv: 1 row is a plant, 1 is not\n')
})

test('the first 20 problems are shown and the others counted by kind', async () => {
  const rows = Array.from({ length: 30 }, (_, index) => `x${index},Fern`)
  const path = writeFile('plants.csv', `id,name\n${rows.join('\n')}\n`)
  const { stdout } = await runProgram(['check', path], { env })
  expect(stdout.match(/"x\d+"/g)?.length).toBe(20)
  expect(stdout).toMatch(/plants\.csv: 10 more\. All, by kind:\n {2}30 {2}id: /)
})

test('a file that cannot be read is wrong input', async () => {
  const folder = makeTemporaryFolder()
  for (const [path, said] of [
    [join(folder, 'none.csv'), 'there is no file'],
    [writeFile('plants.xlsx', 'PK\x03\x04xxxx'), 'save it as CSV'],
    [folder, 'is a folder'],
  ] as const) {
    const { code, stdout, stderr } = await runProgram(['check', path], { env })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(said)
  }
})

test('what a file holds does not control the terminal', async () => {
  const path = writeFile('plants.csv', 'id,name,\x1b[31mred\n"\x1b[2J\r\nno plant",Fern,\n')
  const screen = openScreen(['check', path], { env })
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
