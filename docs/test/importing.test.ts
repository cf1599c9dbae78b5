import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openSession } from '../recording/session.ts'
import { writeSpreadsheet } from '../recording/spreadsheet.ts'
import { rerunTranscripts } from '../recording/transcript.ts'
import { openWorkplace, type Workplace } from '../recording/workplace.ts'
import { read, root, rowsOf } from './markdown.ts'

const PAGE = 'docs/importing.md'

/** A person with the examples, a login, and a plant store that has nothing. */
async function openExamples(): Promise<Workplace> {
  const workplace = await openWorkplace()
  onTestFinished(() => workplace.close())
  cpSync(join(root, 'examples/plants'), workplace.folder, { recursive: true })
  return workplace
}

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function runProgram({ folder, environment }: Workplace, ...args: string[]): Ended {
  const options = { cwd: folder, env: environment, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync('plant-store', args, options)
  return { code: status, out: stdout, err: stderr }
}

test.each([PAGE, 'examples/plants/README.md'])(
  'each command in %s says what is written there; `pnpm record` renews it',
  { timeout: 120_000 },
  async (document) => {
    const written = read(document)
    expect(rerunTranscripts(written, await openExamples())).toBe(written)
  },
)

/** For each file: how its columns are named, how a person corrects its rejects, what is stored then. */
const FILES = [
  {
    file: 'comma.csv',
    flags: [],
    corrections: {
      '4004,,': '4004,Bracken,',
      '1.23457E+18': '4006',
      '40.13': '4013',
      '4001,': '4010,',
      '""Hedge': 'Hedge',
    },
    first: 4001n,
  },
  {
    file: 'compressed.csv.gz',
    flags: [],
    corrections: {
      '8004,,': '8004,Bracken,',
      '1.23457E+18': '8006',
      '80.13': '8013',
      '8001,': '8010,',
      '""Hedge': 'Hedge',
    },
    first: 8001n,
  },
  {
    file: 'excel-europe.csv',
    flags: ['--map', 'Plant No=id'],
    corrections: {
      '5004;;': '5004;Adlerfarn;',
      '1,23457E+18': '5006',
      '50,13': '5013',
      '5001;': '5010;',
      '""Efeu': 'Efeu',
    },
    first: 5001n,
  },
  {
    file: 'excel-unicode.txt',
    flags: [],
    corrections: {
      '6004\t\t': '6004\tFougère aigle\t',
      '1.23457E+18': '6006',
      '60.13': '6013',
      '6001\t': '6010\t',
      '""Lierre': 'Lierre',
    },
    first: 6001n,
  },
  {
    file: 'lines.jsonl',
    flags: [],
    corrections: {
      '7004,"tag"': '7004,"name":"Bracken","tag"',
      '"id":"7006"': '"id":7006',
      '70.13': '7013',
      '"id":7001': '"id":7010',
      '12345678901234567890': '7014',
      'Hedge ivy"': 'Hedge ivy\\"}"',
      ',"tag":null': '',
    },
    first: 7001n,
  },
]

test.each(FILES)(
  'every plant of $file is stored once its rejects are corrected',
  { timeout: 60_000 },
  async ({ file, flags, corrections, first }) => {
    const workplace = await openExamples()
    expect(runProgram(workplace, 'check', file, ...flags)).toMatchObject({ code: 3 })
    const imported = runProgram(workplace, 'import', file, ...flags)
    expect(imported).toMatchObject({ code: 3 })
    const [, rejects = ''] = /the rejects are in (\S+)/.exec(imported.err) ?? []

    const path = join(workplace.folder, rejects)
    const corrected = Object.entries(corrections).reduce(
      // What stands in the message as well is left there, as people leave it.
      (text, [wrong, right]) => {
        const at = text.lastIndexOf(wrong)
        expect(at, wrong).toBeGreaterThan(0)
        return `${text.slice(0, at)}${right}${text.slice(at + wrong.length)}`
      },
      readFileSync(path, 'utf8'),
    )
    writeFileSync(path, corrected)
    expect(runProgram(workplace, 'import', rejects)).toMatchObject({ code: 0 })
    const stored = [...workplace.server.readNames().keys()].toSorted((one, other) =>
      one < other ? -1 : 1,
    )
    // One of the twenty is there twice.
    expect(stored).toHaveLength(19)
    expect(stored[0]).toBe(first)
  },
)

test('a spreadsheet that was corrected is imported again, and no plant twice', {
  timeout: 60_000,
}, async () => {
  const workplace = await openExamples()
  const command = ['import', 'excel-europe.csv', '--map', 'Plant No=id']
  expect(runProgram(workplace, ...command)).toMatchObject({ code: 3 })
  const path = join(workplace.folder, 'excel-europe.csv')
  const corrected = readFileSync(path, 'latin1').replace('"Efeu', 'Efeu').replace('50,13', '5013')
  writeFileSync(path, corrected, 'latin1')
  rmSync(join(workplace.folder, 'excel-europe.rejects.csv'))
  const again = runProgram(workplace, ...command, '--json')
  expect(JSON.parse(again.out).files).toMatchObject([{ stored: 17, alreadyThere: 15, rejected: 3 }])
  expect(workplace.server.readNames().size).toBe(16)
})

test('the table of exit codes is that of the program', async () => {
  const { out } = runProgram(await openExamples(), '--help')
  const [, codes = ''] = /^Exit codes:\n((?: .*\n)*)/m.exec(out) ?? []
  const rows = rowsOf(PAGE, /^\d+ /).map(
    ([code = '', meaning]) => `  ${code.padEnd(3)}  ${meaning}\n`,
  )
  expect(rows.join('')).toBe(codes)
})

test('the table of flags names each flag of an import', async () => {
  const { out } = runProgram(await openExamples(), 'import', '--help')
  const flags = out.matchAll(/^ +(?:-\w, )?(--[\w-]+)/gm)
  const rows = rowsOf(PAGE, /^`--/).map(([flag = '']) => /--[\w-]+/.exec(flag)?.[0])
  expect(rows.toSorted()).toEqual(Array.from(flags, ([, flag]) => flag).toSorted())
})

test('an import that is interrupted goes on by the same command, in the words of the page', {
  timeout: 120_000,
}, async () => {
  const { folder, environment, server } = await openExamples()
  writeSpreadsheet(join(folder, 'many.csv'), 10_000)
  const session = openSession({ columns: 120, rows: 40, folder, environment })
  onTestFinished(() => session.close())
  const command = 'plant-store import many.csv --yes\r'
  await session.waitFor(/^\$$/)
  await session.type(command)
  await session.waitFor(/[1-9],?\d* stored/)
  await session.type('\u0003')
  await session.waitFor(/interrupted; nothing is lost/)
  await session.type(command)
  await session.waitFor(/goes on behind row [1-9]/)
  await session.waitFor(/9,997 stored.*, 3 rejected/, 100_000)
  expect(server.readNames().size).toBe(9_997)
  for (const words of ['`interrupted; nothing is lost`', '`goes on behind row`']) {
    expect(read(PAGE)).toContain(words)
  }
})

test('an import whose server is gone waits, in the words of the page', {
  timeout: 60_000,
}, async () => {
  const { folder, environment, server } = await openExamples()
  writeSpreadsheet(join(folder, 'many.csv'), 10_000)
  const session = openSession({ columns: 120, rows: 40, folder, environment })
  onTestFinished(() => session.close())
  await session.waitFor(/^\$$/)
  await session.type('plant-store import many.csv --yes\r')
  await session.waitFor(/[1-9],?\d* stored/)
  server.kill()
  await session.waitFor(/no connection, trying again for (?:5:00|4:\d\d)/)
  expect(read(PAGE)).toContain('`no connection, trying again for 4:30`')
})
