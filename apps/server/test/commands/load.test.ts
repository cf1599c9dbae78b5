import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { MAIN } from '../process/main.ts'
import { readPlants } from '../store/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore, spreadPlants } from './plants.ts'
import { type ProgramOptions, runOn, until } from './program.ts'
import { killAll, runShell, startShell } from './shell.ts'

function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  let runs = 0
  return {
    folder,
    path,
    load(file: string, options: ProgramOptions = {}, ...args: string[]) {
      const rejects = file === '-' ? ['--rejects', join(folder, `rejects-${++runs}`)] : []
      return runOn(path, ['load', file, ...rejects, ...args], options)
    },
    write(name: string, content: string) {
      const file = join(folder, name)
      writeFileSync(file, content)
      return file
    },
  }
}

const fern = '{"id":1,"name":"Fern"}\n'

describe('load', () => {
  test('can be repeated: plants that are there already stay', async () => {
    const { load, write, path } = arrange()
    const file = write('plants.csv', 'id,name,tag\n1,Fern,\n9007199254740993,Moss,""\n')
    for (const counts of ['2 created, 0 already there', '0 created, 2 already there']) {
      const err = expect.stringContaining(`Read 2 plants: ${counts}, 0 conflicting, 0 invalid.`)
      expect(await load(file)).toMatchObject({ code: 0, out: '', err })
    }
    expect(readPlants(path)).toEqual([
      { id: 1n, name: 'Fern', tag: null },
      { id: 9007199254740993n, name: 'Moss', tag: '' },
    ])
  })

  test('names conflicts and invalid lines by line, and stores the rest', async () => {
    const { load, path } = arrange()
    const input = `${fern}{"id":1,"name":"Moss"}\nnope\n{"id":2,"name":"Ivy"}`
    const { code, err } = await load('-', { input })
    expect(code).toBe(65)
    expect(err).toContain('-:2: id 1 is taken by other content\n')
    expect(err).toContain('-:3: is not valid JSON\n')
    expect(err).toMatch(
      /^Read 4 plants: 2 created, 0 already there, 1 conflicting, 1 invalid\. \d+ B in [\d.]+ s/m,
    )
    expect(err).toMatch(
      /2 plants of - are not stored, and kept in .*\/rejects-1\. Try: correct that file, and load it\n$/,
    )
    expect(readPlants(path).map(({ name }) => name)).toEqual(['Fern', 'Ivy'])
  })

  test('never has more plants on their way than the queue takes', async () => {
    const { load, path } = arrange()
    const input = spreadPlants(50).map(({ id, name }) =>
      JSON.stringify({ id: Number(id % 99n), name }),
    )
    const { err } = await load('-', { input: input.join('\n') }, '--queue-limit', '1')
    expect(err).toMatch(/Read 50 plants: \d+ created, 0 already there, \d+ conflicting, 0 invalid/)
    expect(readPlants(path).length).toBeGreaterThan(10)
  })

  test('takes longer plants where the server did', async () => {
    const { load } = arrange()
    const input = `{"id":2,"name":"${'x'.repeat(70_000)}"}\n${fern}`
    expect((await load('-', { input })).err).toContain(
      '-:1: is longer than 65600 bytes; --body-limit-bytes allows more\n',
    )
    const { err } = await load('-', { input }, '--body-limit-bytes', '100000')
    expect(err).toContain('Read 2 plants: 1 created, 1 already there, 0 conflicting, 0 invalid.')
  })

  test('draws a bar on a terminal and keeps lines apart from it', async () => {
    const { load } = arrange()
    const { err } = await load('-', { input: `${fern}nope`, isInteractive: true })
    expect(err).toContain('\r\u001b[K-:2: is not valid JSON\n')
    expect(err).toMatch(/\r\u001b\[KRead 2 plants: 1 created/)
  })

  test('says when the store cannot take more, and what is stored stays', async () => {
    const { load, path } = arrange()
    await makeStore(path, [])
    const other = new DatabaseSync(path)
    other.exec('BEGIN IMMEDIATE')
    const { code, err } = await load('-', { input: fern })
    other.close()
    expect(code).toBe(69)
    expect(err).toContain('busy with another process. What was loaded is stored. Try: the same')
  }, 15_000)

  test('stops on a signal, and says what it did', async () => {
    const { folder } = arrange()
    const { child, ended } = startShell(
      folder,
      `server load - < <(yes '${fern.trim()}' | head -n 9000; trap '' INT; exec sleep 30 2> /dev/null)`,
    )
    await until(() => existsSync(join(folder, 'data/plants.db')))
    killAll(child, 'SIGINT')
    const { err } = await ended
    expect(err).toContain('stopped before the end. What was loaded is stored. Try: the same')
    expect(err).toMatch(/^Read [\d,]+ plants?: [01] created/m)
  })

  test('of a long file ends with 75 on a signal, and goes on from there', async () => {
    const { folder, path, load, write } = arrange()
    const lines = Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"name":"Fern"}\n`)
    const file = write('plants.jsonl', lines.join(''))
    await makeStore(path, [])
    const { child, ended } = startShell(
      folder,
      `exec '${process.execPath}' '${MAIN}' load plants.jsonl --database-url sqlite:plants.db`,
    )
    await until(() => readPlants(path).length > 0)
    killAll(child, 'SIGTERM')
    const { code, err } = await ended
    expect(code).toBe(75)
    expect(err).toContain('What was loaded is stored. Try: the same command again')
    const created = Number(/([\d,]+) created/.exec(err)?.[1]?.replaceAll(',', ''))
    expect(readPlants(path)).toHaveLength(created)
    expect((await load(file)).err).toContain(`${created.toLocaleString('en-US')} already there`)
  }, 60_000)
})

describe('load of a spreadsheet', () => {
  test('finds out how it is written, and says so', async () => {
    const { load, path, folder } = arrange()
    const file = join(folder, 'plants.csv')
    writeFileSync(file, Buffer.from('Name;ID;Preis\r\nGr\xfcn;1;2,50\r\n', 'latin1'))
    const { code, err } = await load(file)
    expect(code).toBe(0)
    expect(err).toContain(
      'plants.csv: CSV ";", Windows-1252, columns Name→name, ID→id; passed over: Preis\n',
    )
    expect(readPlants(path)).toEqual([{ id: 1n, name: 'Grün', tag: null }])
  })

  test('takes flags for what cannot be found out', async () => {
    const { load, write, path } = arrange()
    const file = write('plants.txt', '7|Fern\tyes\n')
    const flags = ['--format=csv', '--delimiter=tab', '--encoding=utf-8', '--no-header']
    const { code } = await load(file, {}, ...flags, '--map', '1=name', '--map', '2=tag')
    expect(code).toBe(65)
    write('plants.txt', '7\tFern|yes\n')
    expect(await load(file, {}, ...flags, '--map', '2=name', '--map', '1=id')).toMatchObject({
      code: 0,
    })
    expect(readPlants(path)).toEqual([{ id: 7n, name: 'Fern|yes', tag: null }])
    const { code: refused, err } = await load(file, {}, '--delimiter', '|')
    expect({ refused, err }).toEqual({ refused: 78, err: expect.stringContaining('Try: comma') })
  })
})

describe('rejects of load', () => {
  const row = (id: number | string, name = 'Fern') => `${id};${name}\n`

  test('are shown up to five, counted by reason, and kept in the format of the file', async () => {
    const { load, write, folder, path } = arrange()
    const ids = Array.from({ length: 300 }, (_, id) => id)
    await load(write('first.csv', `id;name\n${ids.map((id) => row(id)).join('')}`))
    const second = ids.map((id) => row(id, 'Moss')).join('')
    const file = write('plants.csv', `id;name\n${second}${row('x')}2,Fern\n${row(1000)}`)
    const { code, err } = await load(file)
    expect(code).toBe(65)
    expect(err.match(/plants\.csv:\d+: /g)).toHaveLength(5)
    expect(err).toMatch(
      /^300 id is taken by other content\n1 id: must be an int.*\n1 has 1 field /m,
    )
    const kept = readFileSync(join(folder, 'plants.rejects.csv'), 'utf8')
    expect(kept).toMatch(/^_line;_code;_message;id;name\n/)
    expect(kept.match(/;id_taken;"id \d+ is taken by other content";\d+;Moss\n/g)).toHaveLength(300)
    expect(kept).toMatch(/\n302;invalid_plant;"id: ""x"" must be an integer.*";x;Fern\n/)
    expect(kept).toMatch(/\n303;invalid_plant;"has 1 field where .*";2,Fern\n/)
    expect(readPlants(path)).toHaveLength(301)
  })

  test('can be corrected and loaded, and no earlier file of rejects is replaced', async () => {
    const { load, write, folder, path } = arrange()
    const file = write('plants.csv', 'id,name\nx,Fern\n2,"Moss\n3,Ivy\n')
    expect((await load(file)).code).toBe(65)
    const rejects = join(folder, 'plants.rejects.csv')
    const kept = readFileSync(rejects, 'utf8')
    expect(statSync(rejects).mode & 0o777).toBe(0o600)
    writeFileSync(
      rejects,
      kept.replace(',x,Fern', ',1,Fern').replace('"_source:2,""Moss"', '2,Moss'),
    )
    expect((await load(file)).code).toBe(65)
    expect(readFileSync(join(folder, 'plants.rejects.2.csv'), 'utf8')).toBe(kept)
    expect(await load(rejects)).toMatchObject({ code: 0 })
    expect(readPlants(path).map(({ name }) => name)).toEqual(['Fern', 'Moss', 'Ivy'])
    const { code, err } = await load(file, {}, '--rejects', rejects)
    expect({ code, err }).toEqual({ code: 73, err: expect.stringContaining('exists already') })
  })

  test('that cannot be kept end the load, and what was loaded stays', async () => {
    const { load, write, path } = arrange()
    const file = write('plants.csv', 'id,name\n1,Fern\nx,Moss\n')
    const { code, err } = await load(file, {}, '--rejects', '/dev/null/rejects.csv')
    expect({ code, err }).toEqual({ code: 73, err: expect.stringContaining('cannot make') })
    expect(readPlants(path)).toHaveLength(1)
  })
})

test('load of a gzip that is cut stores what is there, and says that the end is missing', async () => {
  const { load, path, folder } = arrange()
  const lines = Array.from({ length: 20_000 }, (_, id) => `{"id":${id},"name":"${id * 7919}"}\n`)
  const whole = gzipSync(lines.join(''))
  const file = join(folder, 'plants.jsonl.gz')
  writeFileSync(file, whole.subarray(0, -20))
  const { code, err } = await load(file)
  expect(code).toBe(65)
  expect(err).toContain('it is cut: the end of its gzip is missing. Try: the whole file again')
  expect(readPlants(path).length).toBeGreaterThan(15_000)
  writeFileSync(file, whole)
  expect((await load(file)).code).toBe(0)
  expect(readPlants(path)).toHaveLength(20_000)
})

const ZEROS = 'head -c 67108864 /dev/zero'
const HEADER = 'echo id,name,tag'

/** 64 MiB each, written by programs that need no memory. */
const HOSTILE_FILES: readonly [what: string, name: string, commands: string][] = [
  ['commas', 'a.csv', `${HEADER}; ${ZEROS} | tr '\\0' ,`],
  ['commas in the first line', 'a.csv', `${ZEROS} | tr '\\0' ,`],
  [
    'empty texts in lines as long as may be',
    'a.csv',
    `${HEADER}; yes "$(printf '"",%.0s' {1..21000})" | head -c 67108864`,
  ],
  ['a quote that is never closed', 'a.csv', `${HEADER}; printf '1,"'; ${ZEROS}`],
  ['brackets in one line', 'a.jsonl', `${ZEROS} | tr '\\0' [`],
  [
    'arrays in lines as long as may be',
    'a.jsonl',
    `yes "[$(printf '[],%.0s' {1..21800})[]]" | head -c 67108864`,
  ],
  [
    'members in lines as long as may be',
    'a.jsonl',
    `yes "{$(printf '"%d":1,' {1..6000})\\"id\\":1}" | head -c 67108864`,
  ],
]

test('load needs less than 100 MB more for 64 MiB of anything than for one plant', {
  timeout: 300_000,
}, async () => {
  const folder = temporaryFolder()
  const load = (name: string) => runShell(folder, `server load ${name} 2>&1 | tail -c 1000`)
  writeFileSync(join(folder, 'a.jsonl'), fern)
  const { peakMemoryMiB: least } = await load('a.jsonl')
  for (const [what, name, commands] of HOSTILE_FILES) {
    await runShell(folder, `set +o pipefail; { ${commands}; } > ${name}`)
    expect(statSync(join(folder, name)).size, what).toBeGreaterThan(67_000_000)
    const { code, out, peakMemoryMiB } = await load(name)
    expect({ what, code, out }).toEqual({
      what,
      code: 65,
      out: expect.stringMatching(/of a\.\w+ (is|are) not stored|a\.csv cannot be loaded/),
    })
    expect(peakMemoryMiB - least, what).toBeLessThan(95)
  }
})

describe('load is refused before a store is touched', () => {
  test.each([
    ['a file that does not exist', 'none.jsonl', 66, /cannot read .*none\.jsonl: ENOENT/],
    ['a folder', '', 66, /cannot read .*: it is a folder/],
    ['a spreadsheet itself', 'plants.xlsx', 65, /plants\.xlsx cannot be loaded: .*save it as CSV/],
    ['csv that may have no header', 'headless.csv', 65, /headless\.csv .*Try: --no-header/],
    ['csv without an id', 'no-id.csv', 65, /no-id\.csv .* names no column id: .*Try: --map/],
  ])('for %s', async (_what, name, exitCode, message) => {
    const { load, write, folder, path } = arrange()
    write('plants.xlsx', 'PK\u0003\u0004')
    write('headless.csv', '1,Fern,\n')
    write('no-id.csv', 'No,Name\n1,Fern\n')
    const format = name === '' ? ['--format', 'jsonl'] : []
    const { code, err } = await load(join(folder, name), {}, ...format)
    expect(code).toBe(exitCode)
    expect(err).toMatch(message)
    expect(existsSync(path)).toBe(false)
  })
})
