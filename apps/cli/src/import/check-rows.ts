import type { PlantFileReader } from '@plant-store/plant-files'
import type { Terminal } from '../terminal.ts'
import { MOST_SHOWN } from './import-run.ts'
import { InputStopped } from './input.ts'
import type { ImportMark } from './journal.ts'
import { countReason, NO_MARK } from './mark.ts'
import { toReject } from './row-result.ts'

/** Reads every row and sends none; `stored` counts those that would be sent. */
export async function checkRows(
  reader: PlantFileReader,
  maxRejects: number,
  terminal: Terminal,
): Promise<ImportMark> {
  const beganAt = performance.now()
  const rejected: Record<string, number> = {}
  let [rows, line, rejects] = [0, 0, 0]
  try {
    for await (const record of reader.records()) {
      rows++
      line = record.line
      if (record.plant !== undefined) continue
      const { message, reason } = toReject(record)
      countReason(rejected, reason)
      if (rejects++ < MOST_SHOWN) terminal.err(`  line ${line}: ${message}`)
      if (rejects > maxRejects) break
    }
  } catch (error) {
    if (!(error instanceof InputStopped)) throw error
  }
  const seconds = (performance.now() - beganAt) / 1_000
  return { ...NO_MARK, rows, line, rejected, stored: rows - rejects, seconds }
}
