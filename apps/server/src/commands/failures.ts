import { existsSync } from 'node:fs'
import type { StoreRefusedError, StoreUnavailableError } from '../store/store.ts'
import { CommandError, exitCodes } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Whether an error comes from the operating system, such as ENOENT. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && (error as NodeJS.ErrnoException).syscall !== undefined
}

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

const EXISTS = 'exists already, and nothing is ever replaced. Try: another name'

/** @throws CommandError when the path exists. */
export function refuseExisting(path: string): void {
  if (existsSync(path)) throw new CommandError(`${path} ${EXISTS}`, exitCodes.cannotCreate)
}

/** @throws CommandError when there is nothing at the path of a file to read. */
export function refuseMissing(path: string): void {
  if (existsSync(path)) return
  throw new CommandError(`cannot read ${path}: there is no such file`, exitCodes.noInput)
}

/** Names the file that cannot be created; other errors are returned as they are. */
export function describeUncreatable(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error
  const isWithoutLinks = error.syscall === 'link' && NO_LINKS.has(error.code ?? '')
  const message =
    error.code === 'EEXIST'
      ? `${path} ${EXISTS}`
      : isWithoutLinks
        ? `${path} is on a file system without hard links. Try: a folder on another one, and copy the file from there`
        : `cannot make ${path}: ${error.message}`
  return new CommandError(message, exitCodes.cannotCreate, { cause: error })
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
  { stop }: Terminal,
  consequence: string,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = () => reject(stopped(consequence))
    if (stop.aborted) end()
    else stop.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => stop.removeEventListener('abort', end))
  })
}
