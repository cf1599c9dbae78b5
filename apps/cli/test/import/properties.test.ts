import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readCsv } from '../../src/import/csv.ts'
import type { PlantRecord } from '../../src/import/plant-record.ts'
import { rejectsFormatOf } from '../../src/import/rejects.ts'
import { inPieces, open, recordsOf } from './read.ts'

/** Lines that are rows, save for stray quotes and delimiters anywhere. */
const strayLines = fc.array(
  fc.string({
    unit: fc.constantFrom('"', '"', '""', ',', ',', ';', '\t', 'a', '7', '1,Fern,', '\r', 'é'),
    maxLength: 8,
  }),
  { minLength: 1, maxLength: 30 },
)

const limits = fc.constantFrom(12, 65_536)

/** A row of spreadsheets without anything in it. */
const EMPTY_ROW = /^(?:(?:"")?,)*(?:"")?\r?$/

const fields = ['id', 'name', 'tag'] as const
const columns = fields.map((field) => ({ name: field, field }))

/** Reads lines of CSV behind one that names the columns, with a limit of bytes for a record. */
function readLines(
  lines: readonly string[],
  { delimiter = ',', pieceBytes = 65_536, limitBytes = 65_536 } = {},
): Promise<PlantRecord[]> {
  const bytes = Buffer.from([fields.join(delimiter), ...lines].join('\n'))
  const dialect = { delimiter, headers: 1, columns }
  return recordsOf({
    records: () => readCsv(inPieces(bytes, pieceBytes), dialect, undefined, limitBytes),
  })
}

describe('for lines with stray quotes', { timeout: 60_000 }, () => {
  test('every line is in exactly one record, whose source is those lines', async () => {
    const pieces = fc.constantFrom(1, 2, 5, 17, 65_536)
    const holds = fc.asyncProperty(
      strayLines,
      pieces,
      limits,
      async (lines, pieceBytes, limitBytes) => {
        const between = (from: number, to?: number) => lines.slice(from - 2, to && to - 2)
        const isEmpty = (text: string) => EMPTY_ROW.test(text)
        let next = 2
        for (const record of await readLines(lines, { pieceBytes, limitBytes })) {
          const { line, lastLine, source, isCut } = record
          expect(between(next, line).every(isEmpty)).toBe(true)
          expect(lastLine).toBeGreaterThanOrEqual(line)
          const text = between(line, lastLine + 1).join('\n')
          if (!isCut) expect(source.toString()).toBe(text.replace(/\r$/, ''))
          next = lastLine + 1
        }
        expect(between(next).every(isEmpty)).toBe(true)
      },
    )
    await fc.assert(holds, { numRuns: 2_000 })
  })

  test('a row on a line of its own is stored if no quote before it takes it in rightly', async () => {
    const holds = fc.asyncProperty(strayLines, async (lines) => {
      const rows = lines.flatMap((line) => [line, '5,Rose,'])
      for (const { line, lastLine, plant, source } of await readLines(rows)) {
        if (line === lastLine && String(source) === '5,Rose,') expect(plant?.id).toBe(5n)
        // What takes lines in has all of its quotes in pairs.
        if (line < lastLine) expect((source.toString().split('"').length - 1) % 2).toBe(0)
      }
    })
    await fc.assert(holds, { numRuns: 1_000 })
  })

  test('rejects have one record for each, by RFC 4180, and mean what they meant', async () => {
    const delimiters = fc.constantFrom(',', ';', '\t')
    const holds = fc.asyncProperty(
      strayLines,
      delimiters,
      limits,
      async (rows, delimiter, limitBytes) => {
        const records = await readLines(rows, { delimiter, limitBytes })
        const encoding = { name: 'utf-8', markBytes: 0 }
        const csv = { delimiter, headers: 1, columns }
        const { header, line } = rejectsFormatOf({ encoding, csv, columns })
        const rejection = { code: 'some_code', message: 'is "no" plant' }
        const rejects = header + records.map((one) => line(one, rejection)).join('')
        expect(parseStrictly(rejects, delimiter).map(([number]) => number)).toEqual([
          '_line',
          ...records.map((record) => String(record.line)),
        ])
        const again = await recordsOf(await open(rejects))
        expect(again.map(({ plant }) => plant)).toEqual(records.map(({ plant }) => plant))
      },
    )
    await fc.assert(holds, { numRuns: 1_000 })
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
