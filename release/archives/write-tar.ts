import { create } from 'tar'

/**
 * Writes files as a `.tar.gz` whose bytes depend on nothing else: not on owners, the order of the
 * folder or the time.
 *
 * @param folder - where `names` are
 * @param names - sorted, folders before what is in them
 * @param epoch - the time of each file, in Unix seconds
 */
export async function writeTar(
  file: string,
  folder: string,
  names: readonly string[],
  epoch: number,
): Promise<void> {
  await create(
    {
      file,
      cwd: folder,
      gzip: { level: 9 },
      portable: true,
      mtime: new Date(epoch * 1_000),
      noDirRecurse: true,
      // Else folders are from 1970.
      onWriteEntry(entry) {
        entry.noMtime = false
      },
    },
    [...names],
  )
}
