import { randomUUID } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { decodeJson, JsonSyntaxError } from '@plant-store/contract'
import { CliError, codeOf } from '../cli-error.ts'
import { exitCodes } from '../exit-codes.ts'
import { type Column, fieldNamed } from './columns.ts'
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

function textOf({ source, isCut }: PlantRecord): string {
  return `${source}${isCut ? '…' : ''}`
}

/** As a record of CSV: an absent field is empty, an empty text is `""`. */
function toCsv(fields: CsvFields, delimiter: string): string {
  const written = fields.map((field) => {
    if (field === undefined) return ''
    const isPlain = field !== '' && !/["\r\n]/.test(field) && !field.includes(delimiter)
    return isPlain ? field : `"${field.replaceAll('"', '""')}"`
  })
  return `${written.join(delimiter)}\n`
}

/** How many columns of a file are those of rejects: it is one itself then. */
function countRejectColumns(columns: readonly Column[]): number {
  const isRejects = REJECT_COLUMNS.every((name, index) => columns[index]?.name === name)
  return isRejects ? REJECT_COLUMNS.length : 0
}

/** A name that means the same column when the rejects are read without any flag. */
function nameOf({ name, field }: Column): string {
  if (field !== undefined) return field
  return fieldNamed(name) === undefined ? name : `_${name}`
}

/** The members that a rejected object begins with, in one that is rejected again. */
const REJECT_MEMBERS =
  /^\{\s*"_line"\s*:\s*\d+\s*,\s*"_code"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"_message"\s*:\s*"(?:[^"\\]|\\.)*"\s*(?:,|(?=\}))/

/** The text between the braces of an object; undefined where the source is none. */
function membersOf({ source, isCut }: PlantRecord): string | undefined {
  try {
    const value = isCut ? undefined : decodeJson(source)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined
    throw error
  }
  return source.toString().trim().replace(REJECT_MEMBERS, '{').slice(1, -1)
}

function toJsonLine(record: PlantRecord, { code, message }: Rejection): string {
  const beginning = JSON.stringify({ _line: record.line, _code: code, _message: message })
  const members = membersOf(record) ?? `"_source":${JSON.stringify(textOf(record))}`
  return `${beginning.slice(0, -1)}${members.trim() === '' ? '' : ','}${members}}\n`
}

/** What a file of rejects begins with, and how it holds one. */
export interface RejectsFormat {
  readonly header: string
  readonly line: (record: PlantRecord, rejection: Rejection) => string
}

/**
 * Rejects as they can be corrected and imported without any flag: `_line`, `_code` and `_message` come
 * first, and readers pass them over; columns have the names of their fields. What is no record of CSV
 * is one field, what is no object of JSON the text `_source`. UTF-8, with a byte order mark before
 * CSV that had one or was not UTF-8.
 */
export function rejectsFormatOf({ csv, encoding }: Dialect): RejectsFormat {
  if (csv === undefined) return { header: '', line: toJsonLine }
  const { columns, delimiter } = csv
  const own = countRejectColumns(columns)
  const mark = encoding.markBytes > 0 || encoding.name !== 'utf-8' ? '\ufeff' : ''
  return {
    header: mark + toCsv([...REJECT_COLUMNS, ...columns.slice(own).map(nameOf)], delimiter),
    line(record, { code, message }) {
      const fields = record.isCut ? undefined : record.fields?.slice(own)
      const begin = [String(record.line), code, message]
      return toCsv([...begin, ...(fields ?? [textOf(record)])], delimiter)
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

const BUFFER_CHARACTERS = 65_536

/**
 * A new file of rejects: a draft beside its place until it is whole, and made with the first reject.
 * Nothing is replaced, and no link followed.
 */
export class RejectsFile {
  readonly #paths: readonly string[] | Generator<string>
  readonly #path: string
  readonly #draft: string
  readonly #format: RejectsFormat
  #text = ''
  #file: number | undefined
  #failure: CliError | undefined

  /** `asked`: its only place; else the first that is free beside the file. */
  constructor(path: string, asked: string | undefined, dialect: Dialect) {
    const format = dialect.csv === undefined ? 'jsonl' : 'csv'
    this.#paths = asked === undefined ? rejectsPathsOf(path, format) : [asked]
    this.#path = asked ?? rejectsPathsOf(path, format).next().value
    this.#draft = `${this.#path}.${randomUUID()}`
    this.#format = rejectsFormatOf(dialect)
  }

  get #isEmpty(): boolean {
    return this.#text === '' && this.#file === undefined
  }

  /** @throws CliError where it cannot be written; there is no draft any more then. */
  add(record: PlantRecord, rejection: Rejection): void {
    if (this.#isEmpty) this.#text = this.#format.header
    this.#text += this.#format.line(record, rejection)
    if (this.#text.length >= BUFFER_CHARACTERS) this.#guard(() => this.#write())
  }

  /**
   * Puts the file in its place, and returns that; undefined where there is no reject.
   * @throws CliError as `add`
   */
  publish(): string | undefined {
    if (this.#failure !== undefined) throw this.#failure
    if (this.#isEmpty) return undefined
    return this.#guard(() => {
      const file = this.#write()
      fsyncSync(file)
      closeSync(file)
      for (const path of this.#paths) if (moveTo(this.#draft, path)) return path
      throw Object.assign(new Error(), { code: 'EEXIST' })
    })
  }

  #write(): number {
    this.#file ??= openSync(this.#draft, 'wx', 0o600)
    appendFileSync(this.#file, this.#text)
    this.#text = ''
    return this.#file
  }

  #guard<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      rmSync(this.#draft, { force: true })
      const message = `the rejects cannot be written to ${this.#path}: ${codeOf(error) ?? error}`
      this.#failure = new CliError(message, exitCodes.failure, {
        hint: 'the same command again, or with another --rejects; nothing is stored twice',
        cause: error,
      })
      throw this.#failure
    }
  }
}

/** @throws CliError where the file that a person names for rejects is there already. */
export function refuseExisting(path: string | undefined): void {
  if (path === undefined || !existsSync(path)) return
  throw new CliError(`${path} is there already; nothing was sent`, exitCodes.usage, {
    hint: 'another --rejects, or none',
  })
}

/** Whether a draft could be moved to a path that was free. */
function moveTo(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    rmSync(draft)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
  }
  // A file system without hard links, such as that of a memory stick.
  if (existsSync(path)) return false
  renameSync(draft, path)
  return true
}
