import { DatabaseSync } from 'node:sqlite'
import { block } from '../disk.ts'

const COMMIT_MS = 2

const { exec, prepare } = DatabaseSync.prototype

// Our program on a slower disk, in whichever of its threads it commits: Node.js loads this in all.
DatabaseSync.prototype.exec = function (sql) {
  exec.call(this, sql)
  if (sql === 'COMMIT') block(COMMIT_MS)
}

DatabaseSync.prototype.prepare = function (sql, options) {
  const statement = prepare.call(this, sql, options)
  if (sql !== 'COMMIT') return statement
  const { run } = statement
  statement.run = (...values: unknown[]) => {
    const result = Reflect.apply(run, statement, values)
    block(COMMIT_MS)
    return result
  }
  return statement
}
