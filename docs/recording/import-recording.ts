import { join } from 'node:path'
import { openSession } from './session.ts'
import { writeSpreadsheet } from './spreadsheet.ts'
import type { Recording } from './svg.ts'
import { openWorkplace } from './workplace.ts'

const PLANTS = 12_000
const COLUMNS = 96

/**
 * Imports a spreadsheet with the built command line into a real server, in a pseudo-terminal.
 * @param betweenKeysMs how fast the person types, reads and decides
 */
export async function recordImport(betweenKeysMs: number): Promise<Recording> {
  const { folder, environment, close } = await openWorkplace()
  writeSpreadsheet(join(folder, 'plants.csv'), PLANTS)
  const session = openSession({ columns: COLUMNS, rows: 23, folder, environment })
  try {
    await session.waitFor(/^\$$/)
    await session.rest(10 * betweenKeysMs)
    await session.type('plant-store import plants.csv', betweenKeysMs)
    await session.rest(5 * betweenKeysMs)
    await session.type('\r', betweenKeysMs)
    await session.waitFor(/\[Y\/n\]$/)
    await session.rest(30 * betweenKeysMs)
    await session.type('y', betweenKeysMs)
    await session.rest(5 * betweenKeysMs)
    await session.type('\r', betweenKeysMs)
    await session.waitFor(/\n\$$/, 120_000)
    return {
      title: 'plant-store import, recorded in a terminal',
      description: session.text(),
      columns: COLUMNS,
      frames: session.frames(),
      holdMs: 8_000,
    }
  } finally {
    session.close()
    await close()
  }
}
