import { constants } from 'node:fs'
import { type FileHandle, open, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { identifyOwnProcess, isRunning, type ProcessIdentity } from './process-identity.ts'

/** What an import means; it goes on only as what it began as. */
export interface ImportHead {
  /** When it began, as ISO 8601. */
  readonly began: string
  /** The server that the plants go to. */
  readonly server: string
  /** How the file is read, as JSON. */
  readonly dialect: unknown
  /** The flags that change what a row means, or where its reject goes. */
  readonly flags: Readonly<Record<string, unknown>>
  /** The file of rejects, as an absolute path. */
  readonly rejects: string
}

/** How far an import came: every row before the mark is stored, or on the disk as a reject. */
export interface ImportMark {
  readonly rows: number
  /** The line that the last of these rows begins on; 0 where there is none. */
  readonly line: number
  /** SHA-256 of these rows as they stand in the file, as hex. */
  readonly digest: string
  /** The length of the file of rejects. */
  readonly rejectsBytes: number
  readonly stored: number
  readonly alreadyThere: number
  /** How many rows were rejected, by reason. */
  readonly rejected: Readonly<Record<string, number>>
  /** The time that all runs took. */
  readonly seconds: number
}

/** Why a journal cannot be used; `path` is its file. */
export class JournalError extends Error {
  override name = 'JournalError'
  readonly code: 'in use' | 'not a journal'
  readonly path: string

  constructor(code: JournalError['code'], path: string, message: string) {
    super(message)
    this.code = code
    this.path = path
  }
}

/** A line of the journal has one of these. */
interface JournalLine {
  readonly run?: ProcessIdentity
  readonly head?: ImportHead
  readonly mark?: ImportMark
}

/** How a run begins: with an empty line, as a kill may have cut the line before it. */
const OPENING = '\n{"journal":"plant-store import 1",'

/** How often a run shows that it lives, and after which time without a sign it does not. */
const SIGN_OF_LIFE_MS = 20_000
const DEAD_AFTER_MS = 60_000

function parseLine(line: string): JournalLine {
  try {
    return Object(JSON.parse(line))
  } catch {
    // A kill cut it, or it is empty. The beginning of an object is no JSON, so nothing is half read.
    return {}
  }
}

/** Makes the name of a new file last through a power cut, where the system can. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(dirname(path), constants.O_RDONLY).catch(() => undefined)
  if (folder === undefined) return
  try {
    await folder.sync()
  } catch {
    // Windows syncs no folders.
  } finally {
    await folder.close()
  }
}

/** Appends in one call, so that two processes do not mix their lines. */
async function append(file: FileHandle, path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text)
  const { bytesWritten } = await file.write(bytes)
  if (bytesWritten < bytes.length) throw new Error(`no room is left to write ${path}`)
}

/**
 * The notes of an import, in a file of JSON lines that is only ever appended to: who runs it, what
 * it means, how far it came. It is the lock as well: the import belongs to the first process in it
 * that still runs, so a killed one leaves no lock behind.
 */
export class Journal {
  readonly path: string
  readonly #file: FileHandle
  readonly #signs: NodeJS.Timeout
  /** Undefined where the import has not begun. */
  readonly head: ImportHead | undefined
  /** Undefined where no row has its result. */
  readonly mark: ImportMark | undefined

  constructor(path: string, file: FileHandle, lines: readonly JournalLine[]) {
    this.path = path
    this.#file = file
    this.head = lines.find(({ head }) => head !== undefined)?.head
    this.mark = lines.findLast(({ mark }) => mark !== undefined)?.mark
    const sign = () => void file.utimes(new Date(), new Date()).catch(() => {})
    this.#signs = setInterval(sign, SIGN_OF_LIFE_MS).unref()
  }

  /** Notes what the import means; it is on the disk afterwards. */
  async begin(head: ImportHead): Promise<void> {
    await this.#write({ head })
    await syncFolder(this.path)
  }

  /** Notes how far it came; it is on the disk afterwards. Rejects must be there before. */
  async advance(mark: ImportMark): Promise<void> {
    await this.#write({ mark })
  }

  async #write(line: JournalLine): Promise<void> {
    await append(this.#file, this.path, `${JSON.stringify(line)}\n`)
    await this.#file.datasync()
  }

  /** Lets go of the import, which may go on later. */
  async close(): Promise<void> {
    clearInterval(this.#signs)
    await this.#file.close()
  }

  /** Forgets the import. */
  async remove(): Promise<void> {
    await unlink(this.path)
    await this.close()
  }
}

async function readWhole(file: FileHandle): Promise<string> {
  const { size } = await file.stat()
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

async function isSameFile(file: FileHandle, path: string): Promise<boolean> {
  const [opened, named] = await Promise.all([file.stat(), stat(path).catch(() => undefined)])
  return opened.ino === named?.ino && opened.dev === named.dev
}

/** @throws JournalError when another process before this one in the journal may still run. */
async function checkOwner(
  path: string,
  lines: readonly JournalLine[],
  writtenMs: number,
): Promise<void> {
  for (const owner of lines.flatMap(({ run }) => run ?? [])) {
    if (owner.pid === process.pid && (await isRunning(owner))) return
    const runs = (await isRunning(owner)) ?? Date.now() - writtenMs < DEAD_AFTER_MS
    if (runs) {
      const where = `process ${owner.pid} on ${owner.host}`
      throw new JournalError('in use', path, `another import of it is under way (${where})`)
    }
  }
}

/** One try; undefined where the owner removed the file meanwhile. */
async function tryOpen(path: string): Promise<Journal | undefined> {
  const file = await open(path, 'a+')
  try {
    const before = await readWhole(file)
    if (!before.startsWith(OPENING) && !OPENING.startsWith(before)) {
      throw new JournalError('not a journal', path, `${path} is not the journal of an import`)
    }
    const { mtimeMs } = await file.stat()
    const run: JournalLine = { run: await identifyOwnProcess() }
    await append(file, path, `${OPENING}${JSON.stringify(run).slice(1)}\n`)
    const lines = (await readWhole(file)).split('\n').map(parseLine)
    await checkOwner(path, lines, mtimeMs)
    // An owner removes the file before it ends, and it has ended: so what is here now, stays.
    if (await isSameFile(file, path)) return new Journal(path, file, lines)
  } catch (error) {
    await file.close()
    throw error
  }
  await file.close()
  return undefined
}

/**
 * Opens the journal of an import for this process alone; creates it where there is none.
 * @throws JournalError when another import uses it, or the file is something else; what the file
 * system throws.
 */
export async function openJournal(path: string): Promise<Journal> {
  for (;;) {
    const journal = await tryOpen(path)
    if (journal !== undefined) return journal
  }
}
