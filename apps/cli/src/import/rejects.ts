import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CliError, codeOf, exitCodes } from '../cli-error.ts'
import { type Column, fieldNear } from './columns.ts'
import { DELIMITERS } from './csv.ts'
import type { CsvFields } from './csv-record.ts'
import type { Dialect } from './plant-file.ts'
import type { PlantRecord } from './plant-record.ts'

/** Why a row is not stored. */
export interface Rejection {
  /** A name without blanks, such as `id_taken`. */
  readonly code: string
  readonly message: string
}

/** What rejects have before the columns, or the members, of their file. */
const REJECT_COLUMNS = ['_line', '_code', '_message'] as const

/** The members that a rejected object begins with, in one that is rejected again. */
const REJECT_MEMBERS = /^\{"_line":\d+,"_code":"\w+","_message":"(?:[^"\\]|\\.)*",?/

function textOf({ source, isCut }: PlantRecord): string {
  return `${source}${isCut ? '…' : ''}`
}

function toCsv(fields: CsvFields, delimiter: string): string {
  const written = fields.map((field) => {
    const isPlain = !/["\r\n]/.test(field) && !field.includes(delimiter)
    return isPlain ? field : `"${field.replaceAll('"', '""')}"`
  })
  return `${written.join(delimiter)}\n`
}

/** A name that means the same column when the rejects are read without any flag. */
function nameOf({ name, field }: Column): string {
  if (field !== undefined) return field
  return fieldNear(name) === undefined ? name : `_${name}`
}

function toJsonLine(record: PlantRecord, { code, message }: Rejection): string {
  const beginning = JSON.stringify({ _line: record.line, _code: code, _message: message })
  // What is no object has no problem with one of its members.
  const isObject = record.plant ?? record.problems?.some(({ column }) => column !== undefined)
  const members = isObject
    ? record.source.toString().trim().replace(REJECT_MEMBERS, '{').slice(1, -1)
    : `"_source":${JSON.stringify(textOf(record))}`
  // Of two members of one name the last counts.
  const id = record.id === undefined ? '' : `"id":${record.id}`
  const parts = [beginning.slice(0, -1), members, id].filter((part) => part.trim() !== '')
  return `${parts.join()}}\n`
}

/**
 * Rejects as they can be corrected and imported without any flag: `_line`, `_code` and `_message` come
 * first, and readers pass them over; columns have the names of their fields. What is no record of CSV
 * is one field, what is no object of JSON the text `_source`. UTF-8, with a byte order mark before
 * CSV that had one or was not UTF-8.
 */
export function rejectsFormatOf({ csv, columns, encoding, firstId }: Dialect) {
  if (csv === undefined) return { header: '', line: toJsonLine }
  // One that is found without a flag.
  const delimiter = DELIMITERS.includes(csv.delimiter) ? csv.delimiter : ','
  // A file of rejects itself has them already.
  const own = REJECT_COLUMNS.every((name, index) => columns[index]?.name === name) ? 3 : 0
  const id = firstId === undefined ? [] : ['id']
  const mark = encoding.markBytes > 0 || encoding.name !== 'utf-8' ? '\ufeff' : ''
  return {
    header: mark + toCsv([...REJECT_COLUMNS, ...id, ...columns.slice(own).map(nameOf)], delimiter),
    line(record: PlantRecord, { code, message }: Rejection): string {
      const begin = [String(record.line), code, message, ...id.map(() => String(record.id))]
      return toCsv([...begin, ...(record.fields?.slice(own) ?? [textOf(record)])], delimiter)
    },
  }
}

/** `plants`, `.rejects.2` where it is a file of rejects itself, `.csv` */
const NAME = /^(?<stem>.+?)(?:\.rejects(?:\.\d+)?)?(?<ending>\.[^.]+?)??$/i

/** `plants.rejects.csv`, `plants.rejects.2.csv`, … beside a file; for stdin in the current folder. */
export function* rejectsPathsOf(path: string, format: string): Generator<string> {
  const name = path === '-' ? 'stdin' : basename(path)
  const { stem = name, ending = `.${format}` } = NAME.exec(name)?.groups ?? {}
  for (let number = 1; ; number++) {
    const own = `${stem}.rejects${number === 1 ? '' : `.${number}`}${ending}`
    if (own !== name) yield join(path === '-' ? '' : dirname(path), own)
  }
}

/**
 * A new file of rejects: made with the first reject as a draft beside its place, which it gets once it
 * is whole. Nothing is replaced, and no link followed.
 */
export class RejectsFile {
  readonly #paths: readonly string[] | Generator<string>
  readonly #path: string
  readonly #draft: string
  readonly #format: ReturnType<typeof rejectsFormatOf>
  #file: number | undefined

  /**
   * `asked`: its only place; else the first that is free beside the file.
   * @throws CliError where something is there already
   */
  constructor(path: string, asked: string | undefined, dialect: Dialect) {
    if (asked !== undefined && lstatSync(asked, { throwIfNoEntry: false }) !== undefined) {
      const why = `${asked} is there already; nothing was sent`
      throw new CliError(why, exitCodes.usage, 'another --rejects, or none')
    }
    const format = dialect.csv === undefined ? 'jsonl' : 'csv'
    this.#paths = asked === undefined ? rejectsPathsOf(path, format) : [asked]
    this.#path = asked ?? rejectsPathsOf(path, format).next().value
    this.#draft = `${this.#path}.${randomUUID()}`
    this.#format = rejectsFormatOf(dialect)
  }

  /** @throws CliError where it cannot be written; there is no draft any more then. */
  add(record: PlantRecord, rejection: Rejection): void {
    this.#guard(() => {
      const header = this.#file === undefined ? this.#format.header : ''
      this.#file ??= openSync(this.#draft, 'wx', 0o600)
      appendFileSync(this.#file, header + this.#format.line(record, rejection))
    })
  }

  /**
   * Puts the file in its place, and returns that; undefined where there is no reject.
   * @throws CliError as `add`
   */
  publish(): string | undefined {
    const file = this.#file
    if (file === undefined) return undefined
    return this.#guard(() => {
      fsyncSync(file)
      closeSync(file)
      for (const path of this.#paths) {
        try {
          linkSync(this.#draft, path)
        } catch (error) {
          if (codeOf(error) === 'EEXIST') continue
          // A file system without hard links, such as that of a memory stick.
          return this.#draft
        }
        rmSync(this.#draft)
        return path
      }
      throw Object.assign(new Error(), { code: 'EEXIST' })
    })
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      rmSync(this.#draft, { force: true })
      const message = `the rejects cannot be written to ${this.#path}: ${codeOf(error) ?? error}`
      const hint = 'the same command again, or with another --rejects; nothing is stored twice'
      this.#file = undefined
      throw new CliError(message, exitCodes.failure, hint)
    }
  }
}
