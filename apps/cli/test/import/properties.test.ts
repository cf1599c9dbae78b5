import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv } from '../../src/import/csv.ts'
import type { PlantRecord } from '../../src/import/plant-record.ts'
import { rejectsFormatOf } from '../../src/import/rejects.ts'
import { inPieces, open, recordsOf } from './read.ts'

const delimiters = [',', ';', '\t']

const pieceBytes = fc.constantFrom(1, 2, 5, 17, 65_536)

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
const EMPTY_ROW = /^(?:(?:"")?,)*(?:"")?\r?$/

const fields = ['id', 'name', 'tag'] as const

/** Reads lines of CSV whose first one names these columns, with a limit of bytes for a record. */
function readLines(
  lines: readonly string[],
  { delimiter = ',', pieceBytes: size = 65_536, limitBytes = 65_536 } = {},
): Promise<PlantRecord[]> {
  const columns = fields.map((field) => ({ name: field, field }))
  const pieces = inPieces(Buffer.from(lines.join('\n')), size)
  return recordsOf({
    records: () => readCsv(pieces, { delimiter, headers: 1, columns }, limitBytes),
  })
}

describe('for lines with stray quotes', { timeout: 60_000 }, () => {
  test('every line is in exactly one record, whose source is those lines', async () => {
    await fc.assert(
      fc.asyncProperty(
        strayFile,
        pieceBytes,
        fc.constantFrom(12, 65_536),
        async (lines, size, limitBytes) => {
          let next = 2
          const records = await readLines(lines, { pieceBytes: size, limitBytes })
          for (const { line, lastLine, source, isCut } of records) {
            const skipped = lines.slice(next - 1, line - 1)
            expect(skipped.every((text) => EMPTY_ROW.test(text))).toBe(true)
            expect(lastLine).toBeGreaterThanOrEqual(line)
            const text = lines
              .slice(line - 1, lastLine)
              .join('\n')
              .replace(/\r$/, '')
            if (!isCut) expect(source.toString()).toBe(text)
            next = lastLine + 1
          }
          expect(lines.slice(next - 1).every((text) => EMPTY_ROW.test(text))).toBe(true)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a row on a line of its own is stored if no quote before it takes it in rightly', async () => {
    await fc.assert(
      fc.asyncProperty(strayFile, async ([header = '', ...lines]) => {
        const rows = lines.flatMap((line) => [line, '5,Rose,'])
        for (const { line, lastLine, plant, source } of await readLines([header, ...rows])) {
          if (line === lastLine && String(source) === '5,Rose,') expect(plant?.id).toBe(5n)
          // What takes lines in has all of its quotes in pairs.
          if (line < lastLine) expect((source.toString().split('"').length - 1) % 2).toBe(0)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

/** The records of RFC 4180 §2, to the letter; a lone carriage return breaks them as any rule does. */
function parseStrictly(text: string, delimiter: string): string[][] {
  const field = new RegExp(`("(?:[^"]|"")*"|[^"\\r\\n${delimiter}]*)(${delimiter}|\\r?\\n)`, 'y')
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

const stray = fc.array(
  fc.string({
    unit: fc.constantFrom('"', '"', '""', ',', ';', '\t', '7', '1,Fern,', '\r', 'ü'),
    maxLength: 8,
  }),
  { minLength: 1, maxLength: 20 },
)

test('rejects have one record for each, by RFC 4180, and mean what they meant', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      stray,
      fc.constantFrom(...delimiters),
      fc.constantFrom(12, 65_536),
      async (rows, delimiter, limitBytes) => {
        const records = await readLines([fields.join(delimiter), ...rows], {
          delimiter,
          limitBytes,
        })
        const columns = fields.map((field) => ({ name: field, field }))
        const { header, line } = rejectsFormatOf({
          encoding: { name: 'utf-8', markBytes: 0 },
          csv: { delimiter, headers: 1, columns },
        })
        const rejection = { code: 'some_code', message: 'is "no" plant' }
        const rejects = header + records.map((one) => line(one, rejection)).join('')
        expect(parseStrictly(rejects, delimiter).map(([number]) => number)).toEqual([
          '_line',
          ...records.map((record) => String(record.line)),
        ])
        const again = await recordsOf(await open(rejects))
        expect(again.map(({ plant }) => plant)).toEqual(records.map(({ plant }) => plant))
      },
    ),
    { numRuns: 1_000 },
  )
})
