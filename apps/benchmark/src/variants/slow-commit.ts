import { DatabaseSync } from 'node:sqlite'
import { block } from '../disk.ts'

const COMMIT_MS = 2

const { exec } = DatabaseSync.prototype

// Our program on a slower disk, in whichever of its threads it commits: Node.js loads this in all.
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql)
  if (sql === 'COMMIT') block(COMMIT_MS)
}
