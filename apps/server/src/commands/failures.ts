import { existsSync } from 'node:fs'
import { aborted } from 'node:util'
import type { OperatorHints, StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Says that a store cannot be used, with the reason and what to try if they are known. */
export function describeUnusable(error: StoreRefusedError | StoreUnavailableError): string {
  const { detail } = error as Partial<StoreUnavailableError>
  return withFix(detail === undefined ? error.message : `${error.message}: ${detail}`, error)
}

/** A message, and what to try. */
export function withFix(message: string, { fix }: { readonly fix?: string | undefined }): string {
  return fix === undefined ? message : `${message}. Try: ${fix}`
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function existing(path: string, cause?: unknown): CommandError {
  const message = `${path} exists already, and nothing is ever replaced`
  return new CommandError(message, exitCodes.cannotCreate, { cause, fix: 'another name' })
}

/** @throws CommandError when the path exists. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw existing(path)
}

/** @throws CommandError when there is nothing at the path of a file to read. */
export function refuseMissing(path: string): void {
  if (existsSync(path)) return
  throw new CommandError(`cannot read ${path}: there is no such file`, exitCodes.noInput)
}

/** Names the file that cannot be created; other errors are returned as they are. */
export function describeUncreatable(error: unknown, path: string): unknown {
  const { syscall, code = '', message, fix: hint } = error as NodeJS.ErrnoException & OperatorHints
  const fail = (text: string, fix?: string) =>
    new CommandError(text, exitCodes.cannotCreate, { cause: error, fix })
  if (code === 'no_room') return fail(`cannot make ${path}: ${message}`, hint)
  if (syscall === undefined) return error
  if (code === 'EEXIST') return existing(path, error)
  if (syscall !== 'link' || !NO_LINKS.has(code)) return fail(`cannot make ${path}: ${message}`)
  const fix = 'a folder on another one, and copy the file from there'
  return fail(`${path} is on a file system without hard links`, fix)
}

/** Turns the error of an aborted command into one sentence; other errors are returned as they are. */
export function describeStop(error: unknown, terminal: Terminal, consequence: string): unknown {
  // throwIfAborted throws the reason; APIs that take the signal throw an AbortError.
  const isStop = error === terminal.stop.reason || (error as Error | null)?.name === 'AbortError'
  return terminal.stop.aborted && isStop ? stopped(consequence) : error
}

function stopped(consequence: string): CommandError {
  return new CommandError(`stopped before the end. ${consequence}`, exitCodes.stopped)
}

/**
 * Waits for work that takes no signal, at most until the process must end.
 * @throws CommandError then.
 */
export function unlessStopped<Result>(
  work: Promise<Result>,
  terminal: Terminal,
  consequence: string,
): Promise<Result> {
  const end = aborted(terminal.stop, terminal).then(() => Promise.reject(stopped(consequence)))
  return Promise.race([work, end])
}
