import { gzipSync } from 'node:zlib'
import type { NewPlant } from '@plant-store/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { delimiters, encodings } from '../src/dialect.ts'
import { createRejectsWriter } from '../src/rejects.ts'
import { LIMIT_BYTES, open, recordsOf } from './read.ts'

const pieceBytes = fc.constantFrom(1, 2, 5, 17, 65_536)

const encode = {
  'utf-8': (text: string) => Buffer.from(text),
  'utf-16le': (text: string) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text: string) => Buffer.from(text, 'utf16le').swap16(),
  'windows-1252': (text: string) => Buffer.from(text, 'latin1'),
}

/** What Windows-1252 has too, where it is Latin-1, and no run of letters that it seldom has. */
const word = fc
  .string({
    unit: fc.constantFrom('a', 'B', '7', ' ', 'ü', '"', ',', ';', '\t', '\n', '\r\n'),
    maxLength: 12,
  })
  .filter((text) => !/üüü/.test(text))

const plant = fc.record<NewPlant, 'id' | 'name'>(
  { id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), name: word, tag: word },
  { requiredKeys: ['id', 'name'], noNullPrototype: true },
)

const dialect = fc.record({
  delimiter: fc.constantFrom(...delimiters),
  encoding: fc.constantFrom(...encodings),
  isMarked: fc.boolean(),
  isGzip: fc.boolean(),
  isQuoted: fc.boolean(),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  header: fc.shuffledSubarray(['id', 'name', 'tag', 'size'] as const, { minLength: 4 }),
  isUpperCase: fc.boolean(),
})

type Written = typeof dialect extends fc.Arbitrary<infer Value> ? Value : never

function write(plants: readonly NewPlant[], how: Written): Buffer {
  const cell = (value: string | bigint | undefined) => {
    const text = String(value ?? '')
    const needsQuotes = how.isQuoted || /[",;\t\r\n]/.test(text) || text === ''
    return value !== undefined && needsQuotes ? `"${text.replaceAll('"', '""')}"` : text
  }
  const lines = [
    how.header.map((name) => (how.isUpperCase ? name.toUpperCase() : name)),
    ...plants.map((one) => how.header.map((name) => cell(name === 'size' ? 'x' : one[name]))),
  ]
  const text = lines.map((cells) => cells.join(how.delimiter) + how.lineBreak).join('')
  const isMarked = how.isMarked && how.encoding !== 'windows-1252'
  const bytes = encode[how.encoding](`${isMarked ? '\ufeff' : ''}${text}`)
  return how.isGzip ? gzipSync(bytes) : bytes
}

test('plants written in any dialect are found and read to the letter', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(plant, { minLength: 1 }),
      dialect,
      pieceBytes,
      async (plants, how, size) => {
        const reader = await open(write(plants, how), {}, { pieceBytes: size })
        const { delimiter, isGzip, doubts } = reader.dialect
        expect({ delimiter, isGzip, doubts }).toEqual({
          delimiter: how.delimiter,
          isGzip: how.isGzip,
          doubts: [],
        })
        const read = await recordsOf(reader)
        expect(read.map((record) => record.plant ?? record.problem)).toStrictEqual(plants)
      },
    ),
    { numRuns: 1_000 },
  )
})

/** Lines that are rows, save for stray quotes and delimiters anywhere. */
const strayFile = fc
  .array(
    fc.string({
      unit: fc.constantFrom('"', '"', '""', ',', ',', 'a', '7', '1,Fern,', '\r', 'é'),
      maxLength: 8,
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((lines) => ['id,name,tag', ...lines])

/** A row of spreadsheets without anything in it. */
const EMPTY_ROW = /^,*\r?$/

describe('for lines with stray quotes', { timeout: 60_000 }, () => {
  test('every line is in exactly one record, whose source is those lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        strayFile,
        pieceBytes,
        fc.constantFrom(12, LIMIT_BYTES),
        async (lines, size, limitBytes) => {
          const content = lines.join('\n')
          const reader = await open(
            content,
            { limitBytes, format: 'csv', delimiter: ',' },
            { pieceBytes: size },
          )
          let next = 2
          for (const { line, lastLine, source, isCut } of await recordsOf(reader)) {
            const skipped = lines.slice(next - 1, line - 1)
            expect(skipped.every((text) => EMPTY_ROW.test(text))).toBe(true)
            expect(lastLine).toBeGreaterThanOrEqual(line)
            const text = lines
              .slice(line - 1, lastLine)
              .join('\n')
              .replace(/\r$/, '')
            if (!isCut) expect(Buffer.from(source).toString()).toBe(text)
            next = lastLine + 1
          }
          expect(lines.slice(next - 1).every((text) => EMPTY_ROW.test(text))).toBe(true)
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('a row on a line of its own is stored if no quote before it takes it in rightly', async () => {
    await fc.assert(
      fc.asyncProperty(strayFile, async (lines) => {
        const rows = lines.slice(1).flatMap((line) => [line, '5,Rose,'])
        const reader = await open(['id,name,tag', ...rows].join('\n'), {
          format: 'csv',
          delimiter: ',',
        })
        for (const { line, lastLine, plant, problem, source } of await recordsOf(reader)) {
          if (line === lastLine && String(source) === '5,Rose,') expect(plant?.id).toBe(5n)
          // What takes lines in has all of its quotes in pairs.
          const quotes = Buffer.from(source).toString().split('"').length - 1
          if (line < lastLine) expect({ problem, odd: quotes % 2 }).toMatchObject({ odd: 0 })
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

/** The records of RFC 4180 §2, to the letter; a lone carriage return breaks them as any rule does. */
function parseStrictly(bytes: Buffer, delimiter: string): string[][] {
  const field = new RegExp(`("(?:[^"]|"")*"|[^"\\r\\n${delimiter}]*)(${delimiter}|\\r?\\n)`, 'y')
  const text = bytes.toString('latin1')
  const records: string[][] = [[]]
  while (field.lastIndex < text.length) {
    const at = field.lastIndex
    const [, value, end] = field.exec(text) ?? []
    if (value === undefined) throw new Error(`no field of RFC 4180: ${text.slice(at, at + 40)}`)
    records.at(-1)?.push(value)
    if (end !== delimiter) records.push([])
  }
  return records.slice(0, -1)
}

const latin1 = (bytes: Uint8Array = Buffer.of()) => Buffer.from(bytes).toString('latin1')

const stray = fc
  .array(
    fc.string({
      unit: fc.constantFrom(
        '"',
        '"',
        '""',
        ',',
        ';',
        '\t',
        '7',
        '1,Fern,',
        '\r',
        '\xff',
        '_source:',
      ),
      maxLength: 8,
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((lines) => lines.join('\n'))

test('rejects have one record for each, by RFC 4180, and give back each byte', {
  timeout: 60_000,
}, async () => {
  const anyLimit = fc.constantFrom(12, LIMIT_BYTES)
  await fc.assert(
    fc.asyncProperty(
      stray,
      fc.constantFrom(...delimiters),
      anyLimit,
      async (rows, delimiter, limitBytes) => {
        const text = `${['id', 'name', 'tag'].join(delimiter)}\n${rows}`
        const options = { format: 'csv', encoding: 'utf-8' } as const
        const reader = await open(Buffer.from(text, 'latin1'), {
          ...options,
          delimiter,
          limitBytes,
        })
        const records = await recordsOf(reader)
        const writer = createRejectsWriter(reader.dialect)
        const message = 'is "no" plant'
        const written = records.map((one) => writer.write(one, { code: 'some_code', message }))
        const rejects = Buffer.concat([writer.header(), ...written])
        const parsed = parseStrictly(rejects, delimiter)
        expect(parsed.map(([line]) => line)).toEqual([
          '_line',
          ...records.map(({ line }) => String(line)),
        ])

        const again = await recordsOf(await open(rejects, options))
        expect(again.map(({ plant }) => plant)).toEqual(records.map(({ plant }) => plant))
        for (const [index, { source, isCut }] of records.entries()) {
          if (!isCut) expect(latin1(again[index]?.source)).toBe(latin1(source))
        }
      },
    ),
    { numRuns: 2_000, examples: [['1,Fern,"\n""\t"', ',', 12]] },
  )
})
