import { GroupCommit } from '@plant-store/server/store/group-commit.js'
import { makeSyncedFile } from '../disk.ts'

// Our program with what no server that keeps plants can do without: a write and a sync.
const database = process.argv.find((argument) => argument.startsWith('sqlite:')) ?? ''
let file: ReturnType<typeof makeSyncedFile> | undefined

GroupCommit.prototype.add = async () => {
  file ??= makeSyncedFile(`${database.slice('sqlite:'.length)}-synced`)
  file.write()
  return 'created'
}
