import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { PROGRAM } from '../helpers/program.ts'
import { openImporter, rowsOf } from './importer.ts'

const needsStrace = needs('strace', spawnSync('strace', ['-V']).status === 0)
const JOURNAL = 'plants.csv.import-journal'
const REJECTS = 'plants.rejects.csv'

type Importer = Awaited<ReturnType<typeof openImporter>>

/** Runs an import below strace. */
async function trace({ cwd, env }: Importer, options: readonly string[]) {
  const args = ['-f', '-y', ...options, process.execPath, PROGRAM, 'import', 'plants.csv']
  const child = spawn('strace', args, { cwd, env: { PATH: process.env.PATH ?? '', ...env } })
  child.stdin.end()
  const [[code], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  return { code: code as number, stderr }
}

/** Calls where they ended, those that another thread's calls interrupted put together again. */
function joinInterrupted(trace: string): string[] {
  const begun = new Map<string, string>()
  return trace.split('\n').flatMap((line) => {
    const [, pid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const [, beginning] = /^(.*) <unfinished \.\.\.>$/.exec(call) ?? []
    if (beginning !== undefined) begun.set(pid, beginning)
    const [, end] = /^<\.\.\. \w+ resumed>(.*)$/.exec(call) ?? []
    if (beginning !== undefined) return []
    return end === undefined ? [call] : [`${begun.get(pid)}${end}`]
  })
}

/** Each third row is rejected. */
function mixedRows(count: number): string {
  return Array.from({ length: count }, (_, row) => `${row % 3 === 0 ? 'x' : row},Fern\n`).join('')
}

describe('what a power cut may leave', needsStrace, () => {
  test('is a journal that knows no reject which is not on the disk', async () => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${mixedRows(6_000)}`)
    const file = importer.pathOf('calls')
    // -s shows the marks whole.
    const calls = 'trace=pwrite64,write,fdatasync,fsync,ftruncate,unlink'
    const { code } = await trace(importer, ['-s', '4096', '-o', file, '-e', calls])
    expect(code).toBe(3)
    const rejects = readFileSync(importer.pathOf(REJECTS))
    let [written, onDisk, marks, isMarkSynced] = [0, 0, 0, true]
    for (const call of joinInterrupted(readFileSync(file, 'utf8'))) {
      if (/^pwrite64\(\d+<.*rejects\.csv>/.test(call))
        written += Number(/ = (\d+)$/.exec(call)?.[1])
      if (/^fdatasync\(\d+<.*rejects\.csv>\) += 0$/.test(call)) onDisk = written
      if (/^fdatasync\(\d+<.*import-journal>\) += 0$/.test(call)) isMarkSynced = true
      const [, text = ''] = /^write\(\d+<.*import-journal>, "(.*)\\n", /.exec(call) ?? []
      if (!text.includes('rejectsBytes')) continue
      const { mark } = JSON.parse(JSON.parse(`"${text}"`))
      expect({ isMarkSynced, onDisk }).toEqual({ isMarkSynced: true, onDisk: mark.rejectsBytes })
      const [rejected = 0] = Object.values(mark.rejected)
      expect(rejected).toBe(rejects.subarray(0, onDisk).filter((byte) => byte === 0x0a).length - 1)
      isMarkSynced = false
      marks++
    }
    expect(marks).toBeGreaterThanOrEqual(3)
    expect(isMarkSynced).toBe(true)
    expect(onDisk).toBe(rejects.length)
  })
})

describe('a full disk', needsStrace, () => {
  test.each([
    ['rejects', REJECTS, 'pwrite64', '2+'],
    ['journal', JOURNAL, 'write', '4+'],
  ])(
    'for the %s ends the import before it is noted, and it goes on later',
    async (_, name, call, when) => {
      const importer = await openImporter()
      importer.write('plants.csv', `id,name\n${mixedRows(6_000)}`)
      const path = importer.pathOf(name)
      const fault = `inject=${call}:error=ENOSPC:when=${when}`
      const options = ['-o', '/dev/null', '-P', path, '-e', `trace=${call}`, '-e', fault]
      const { code, stderr } = await trace(importer, options)
      expect(code).toBe(1)
      expect(stderr).toContain(`${name} cannot be written: ENOSPC`)
      expect(stderr).toContain('Try: make room, then run the same command; it goes on')
      const { rows } = importer.marks(JOURNAL).at(-1)
      expect(rows).toBeLessThan(6_000)
      const rest = await importer.run(['plants.csv'])
      expect([rest.code, rest.stderr]).toEqual([
        3,
        expect.stringContaining(`behind row ${rows.toLocaleString('en-US')}, `),
      ])
      expect(importer.server.readPlants().size).toBe(4_000)
      const lines = importer.read(REJECTS).trim().split('\n').slice(1)
      expect(lines.map((line) => Number(line.split(',')[0]))).toEqual(
        Array.from({ length: 2_000 }, (_, index) => 2 + index * 3),
      )
    },
  )
})

describe('a place that cannot be written', () => {
  test.each([
    [JOURNAL, '--journal'],
    [REJECTS, '--rejects'],
  ])('for %s is an error that names the flag, and nothing is sent', async (name, flag) => {
    const importer = await openImporter()
    importer.write('plants.csv', `id,name\n${rowsOf(10)}`)
    mkdirSync(importer.pathOf(name))
    const refused = await importer.run(['plants.csv'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(`${name} cannot be written: EISDIR`)
    expect(refused.stderr).toContain(`Try: ${flag} FILE, in a folder where you may write`)
    expect(readdirSync(importer.cwd).sort()).toEqual(['plants.csv', name].sort())
    expect(importer.server.readPlants().size).toBe(0)
  })
})

test('places of their own for journal and rejects leave nothing in the folder of the file', async () => {
  const importer = await openImporter()
  importer.write('plants.csv', `id,name\n${mixedRows(9)}`)
  const other = await openImporter([], importer.server)
  const flags = ['--journal', other.pathOf('journal'), '--rejects', other.pathOf('rejects.csv')]
  expect((await importer.run(['plants.csv', ...flags])).code).toBe(3)
  expect(other.read('rejects.csv').split('\n')).toHaveLength(5)
  expect([importer.has(REJECTS), importer.has(JOURNAL), other.has('journal')]).toEqual([
    false,
    false,
    false,
  ])
  const missing = await importer.run(['plants.csv', '--journal', '/nowhere/journal'])
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringContaining('/nowhere/journal cannot be written: ENOENT'),
  ])
})
