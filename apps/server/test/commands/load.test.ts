import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { readPlants } from '../store/sqlite-file.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { makeStore, spreadPlants } from './plants.ts'
import { type ProgramOptions, runOn, until } from './program.ts'
import { killAll, runShell, startShell } from './shell.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  return {
    folder,
    path,
    load: (file: string, options: ProgramOptions = {}, ...args: string[]) =>
      runOn(path, ['load', file, ...args], options),
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
    expect(err).toContain('Read 4 plants: 2 created, 0 already there, 1 conflicting, 1 invalid.\n')
    expect(err).toMatch(/2 plants of - are not stored: see the lines above\n$/)
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
    const { err } = await load('-', { input: `nope\n${fern}`, isInteractive: true })
    expect(err).toContain('\r\u001b[K-:1: is not valid JSON\n')
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
      `server load - < <(echo '${fern.trim()}'; trap '' INT; exec sleep 30 2> /dev/null)`,
    )
    await once(child.stderr ?? child, 'data')
    killAll(child, 'SIGINT')
    const { err } = await ended
    expect(err).toContain('stopped before the end. What was loaded is stored. Try: the same')
    expect(err).toMatch(/^Read [01] plants?: [01] created/m)
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
    ['a file of unknown format', 'plants.txt', 78, /ends with neither .*Try: --format jsonl/],
    ['csv without a header', 'headless.csv', 65, /headless\.csv cannot be loaded: .*Try: a first/],
  ])('for %s', async (_what, name, exitCode, message) => {
    const { load, write, folder, path } = arrange()
    write('plants.txt', fern)
    write('headless.csv', '1,Fern,\n')
    const format = name === '' ? ['--format', 'jsonl'] : []
    const { code, err } = await load(join(folder, name), {}, ...format)
    expect(code).toBe(exitCode)
    expect(err).toMatch(message)
    if (exitCode !== 65) expect(existsSync(path)).toBe(false)
  })
})
