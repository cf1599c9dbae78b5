import { closeSync, openSync, writeSync } from 'node:fs'
import {
  createRejectsWriter,
  type Dialect,
  type RecordSource,
  type Rejection,
  rejectsPathsOf,
} from '@plant-store/plant-files'
import { describeUncreatable } from '../failures.ts'

/** The records that are not stored, in a file that is made with the first of them. */
export interface RejectsFile {
  /** Undefined before the first reject. */
  path(): string | undefined
  /** @throws CommandError when the file cannot be made. */
  add(record: RecordSource, rejection: Rejection): void
  close(): void
}

interface Opened {
  readonly file: number
  readonly path: string
}

function isTaken(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'
}

/** Nothing is ever replaced: a file of rejects may have been corrected since. */
function create(paths: Iterable<string>, isOnlyOne: boolean): Opened {
  for (const path of paths) {
    try {
      return { file: openSync(path, 'wx', 0o600), path }
    } catch (error) {
      if (isOnlyOne || !isTaken(error)) throw describeUncreatable(error, path)
    }
  }
  throw new Error('there is no path for rejects')
}

/** Keeps rejects in the file that was asked for, else beside the input under a name that is free. */
export function createRejectsFile(
  input: string,
  asked: string | undefined,
  dialect: Dialect,
): RejectsFile {
  const writer = createRejectsWriter(dialect)
  let opened: Opened | undefined
  return {
    path: () => opened?.path,
    add(record, rejection) {
      if (opened === undefined) {
        const paths = asked === undefined ? rejectsPathsOf(input, dialect.format) : [asked]
        opened = create(paths, asked !== undefined)
        writeSync(opened.file, writer.header())
      }
      writeSync(opened.file, writer.write(record, rejection))
    },
    close() {
      if (opened !== undefined) closeSync(opened.file)
    },
  }
}
