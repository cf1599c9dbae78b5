import { createWriteStream, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'

/** A zip holds the clock of a wall, without its zone: that of UTC, wherever the archive is made. */
function wallTime(epoch: number): Date {
  const time = new Date(epoch * 1_000)
  return new Date(time.getTime() + time.getTimezoneOffset() * 60_000)
}

/** As `writeTar`, but as a `.zip`. */
export async function writeZip(
  file: string,
  folder: string,
  names: readonly string[],
  epoch: number,
): Promise<void> {
  const zip = new ZipFile()
  const mtime = wallTime(epoch)
  for (const name of names) {
    if (statSync(join(folder, name)).isDirectory()) continue
    zip.addFile(join(folder, name), name, {
      mtime,
      mode: 0o100_644,
      compressionLevel: 9,
      forceDosTimestamp: true,
    })
  }
  zip.end()
  await pipeline(zip.outputStream, createWriteStream(file))
}
