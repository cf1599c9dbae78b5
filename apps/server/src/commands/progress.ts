import {
  type Progress,
  type ProgressState,
  startProgress as startProgressOn,
} from '@plant-store/plant-files'
import type { Terminal } from './terminal.ts'

/** Shows how far a command is: a bar on a terminal, elsewhere a plain line every ten seconds. */
export function startProgress(
  { err, draw, isInteractive, columns }: Terminal,
  read: () => ProgressState,
): Progress {
  const writeLine = (text: string) => err(`${text}\n`)
  return startProgressOn({ write: draw, writeLine, isInteractive, columns }, read)
}
