import { DatabaseSync } from 'node:sqlite'

/**
 * Another program on a store's SQLite file, run by tests in a process of its own: `lock` keeps the
 * write lock; `slow` reads one snapshot for ever, writes as much as makes the log too long, and then
 * has the lock most of the time.
 */
const [path = '', how] = process.argv.slice(2)
const TIMEOUT_MS = 60_000
const HELD_MS = 400
const FREE_MS = 30
const MEBIBYTES = 270

function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function readForEver(): void {
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  process.on('exit', () => reader.close())
}

const writer = new DatabaseSync(path, { timeout: TIMEOUT_MS })
if (how === 'slow') {
  readForEver()
  writer.exec('BEGIN IMMEDIATE; CREATE TABLE filler (bytes BLOB)')
  const insert = writer.prepare('INSERT INTO filler VALUES (zeroblob(1048576))')
  for (let mebibyte = 0; mebibyte < MEBIBYTES; mebibyte++) insert.run()
  writer.exec('COMMIT')
}
for (;;) {
  writer.exec('BEGIN IMMEDIATE')
  wait(how === 'slow' ? HELD_MS : TIMEOUT_MS)
  writer.exec('COMMIT')
  wait(FREE_MS)
}
