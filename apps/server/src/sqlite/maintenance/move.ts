import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { NewPlant } from '@plant-store/contract'
import type { MoveSource } from '../../store/move.ts'
import { fromRow, textLengthOf } from '../../store/plant-columns.ts'
import { StoreRefusedError } from '../../store/store.ts'
import { readValue, sqliteVersionOf } from '../database/connect.ts'
import { openConnection } from '../database/durable.ts'
import { openForReading } from '../database/inspect.ts'
import { schemaVersionOf } from '../database/migrations.ts'
import {
  beginMove,
  finishMove,
  moveStateOf,
  placeAfterMove,
  undoMove,
} from '../database/move-schema.ts'
import { createTransactions } from '../database/transactions.ts'
import { sizeOf } from '../files/measure-files.ts'
import { realPathOf } from '../files/real-path.ts'
import { syncPath } from '../files/sync-files.ts'

/** Two commits of the target, which run beside each other; and few enough that the heap stays small. */
const PIECE_PLANTS = 2_048
const PIECE_CHARACTERS = 4_194_304

/** How long a write waits while servers commit one batch after the other. */
const BUSY_TIMEOUT_MS = 10_000

const SMALLEST_ID = -(2n ** 63n)

/** In id order, what was there when the move began; then by their numbers, what arrived since. */
interface Place {
  /** The least id of the first part that was not read yet. */
  from: bigint
  /** The number of the last arrival that was read, 0 for none, and its plant. */
  arrival: bigint
  plant: bigint
}

const EXISTING = 'SELECT * FROM plants WHERE id BETWEEN ? AND ? ORDER BY id'

/** CROSS keeps the order of the tables: a look-up of a plant for each arrival. */
const ARRIVED = `SELECT position AS "arrival", plants.* FROM arrivals CROSS JOIN plants
  ON plants.id = arrivals.plant WHERE position > ? ORDER BY position`

type Row = Readonly<Record<string, unknown>>

/** Rows of a bounded size, and the last of them. */
function readPiece(database: DatabaseSync, sql: string, ...values: bigint[]): [NewPlant[], Row] {
  const select = database.prepare(sql)
  select.setReadBigInts(true)
  const plants: NewPlant[] = []
  let last: Row = {}
  let characters = 0
  for (const row of select.iterate(...values)) {
    const plant = fromRow(row)
    plants.push(plant)
    last = row
    characters += textLengthOf(plant)
    if (plants.length >= PIECE_PLANTS || characters >= PIECE_CHARACTERS) break
  }
  return [plants, last]
}

function readInteger(database: DatabaseSync, sql: string, ...values: bigint[]): bigint | undefined {
  const select = database.prepare(sql)
  select.setReadBigInts(true)
  const [value] = Object.values(select.get(...values) ?? {})
  return typeof value === 'bigint' ? value : undefined
}

/** Reads the plants of an open move, from the start or from a place. */
function createReader(database: DatabaseSync) {
  const lastId = readInteger(database, 'SELECT last_id FROM move') ?? SMALLEST_ID - 1n
  const place: Place = { from: SMALLEST_ID, arrival: 0n, plant: 0n }
  let existingLeft: number | undefined

  function readExisting(): NewPlant[] {
    if (place.from > lastId) return []
    const [plants] = readPiece(database, EXISTING, place.from, lastId)
    place.from = (plants.at(-1)?.id ?? lastId) + 1n
    if (existingLeft !== undefined) existingLeft = Math.max(0, existingLeft - plants.length)
    return plants
  }

  function readArrived(): NewPlant[] {
    const [plants, last] = readPiece(database, ARRIVED, place.arrival)
    if (plants.length === 0) return []
    place.arrival = last.arrival as bigint
    place.plant = last.id as bigint
    return plants
  }

  /** Counts once, because counting reads as much as copying. */
  function countExisting(): number {
    if (place.from > lastId) return 0
    const count = 'SELECT count(*) FROM plants WHERE id BETWEEN ? AND ?'
    existingLeft ??= Number(readInteger(database, count, place.from, lastId))
    return existingLeft
  }

  return {
    place,
    read() {
      const plants = readExisting()
      return plants.length > 0 ? plants : readArrived()
    },
    countLeft() {
      const newest = readInteger(database, 'SELECT max(position) FROM arrivals') ?? 0n
      return countExisting() + Number(newest - place.arrival)
    },
    resume({ from, arrival, plant }: Place): boolean {
      const select = 'SELECT plant FROM arrivals WHERE position = ?'
      if (arrival > 0n && readInteger(database, select, arrival) !== plant) return false
      Object.assign(place, { from, arrival, plant })
      return true
    },
  }
}

function formatPlace({ from, arrival, plant }: Place): string {
  return [from, arrival, plant].join(' ')
}

function parsePlace(text: string): Place {
  const [from = 0n, arrival = 0n, plant = 0n] = text.split(' ').map(BigInt)
  return { from, arrival, plant }
}

function openForWriting(path: string): DatabaseSync {
  const checked = openForReading(path)
  const isEmpty = schemaVersionOf(checked) === 0
  checked.close()
  if (isEmpty) throw new StoreRefusedError(`there is no plant store in ${path}`)
  const database = openConnection(path)
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return database
}

/** @throws StoreRefusedError when somebody else has finished the move or undone it. */
function requireOpen(database: DatabaseSync, path: string): void {
  const state = moveStateOf(database)
  if (state === 'open') return
  const what = state === 'moved' ? 'was finished' : 'was undone'
  throw new StoreRefusedError(`the move of ${path} ${what} by another command`)
}

function createSource(database: DatabaseSync, path: string): MoveSource {
  const reader = createReader(database)

  function whileOpen<Result>(query: () => Result): Result {
    const isLocked = database.isTransaction
    if (!isLocked) database.exec('BEGIN')
    try {
      requireOpen(database, path)
      return query()
    } finally {
      if (!isLocked) database.exec('ROLLBACK')
    }
  }

  return {
    description: `SQLite ${sqliteVersionOf(database)} in ${path}`,
    id: String(readValue(database, 'SELECT id FROM move')),
    movedTo: () => placeAfterMove(database),
    resume: (place) => whileOpen(() => reader.resume(parsePlace(place))),
    read: () => whileOpen(reader.read),
    countLeft: () => (moveStateOf(database) === 'open' ? reader.countLeft() : 0),
    async place() {
      const text = formatPlace(reader.place)
      // What a killed server left in the log may be lost with the power, and its number used again.
      if ((sizeOf(`${path}-wal`) ?? 0) > 0) await syncPath(`${path}-wal`)
      return text
    },
    async lock() {
      database.exec('BEGIN IMMEDIATE')
      requireOpen(database, path)
    },
    unlock() {
      if (database.isTransaction) database.exec('ROLLBACK')
    },
    finish(to) {
      const left = reader.countLeft()
      if (left > 0) throw new Error(`${left} plants were not read`)
      finishMove(database, to)
      database.exec('COMMIT')
    },
    close: () => {
      if (database.isOpen) database.close()
    },
  }
}

/**
 * Opens the move of a store to another database, which begins where none has begun.
 * @throws StoreRefusedError when there is no store, or one that must not be used.
 */
export async function openSqliteMove(file: string): Promise<MoveSource> {
  const path = realPathOf(file)
  const database = openForWriting(path)
  try {
    await createTransactions(database, () => {}).write(() => {
      if (moveStateOf(database) === 'none') beginMove(database, randomUUID())
    })
    return createSource(database, path)
  } catch (error) {
    database.close()
    throw error
  }
}

/** Lets a store take plants as ever, and forgets the move. */
export async function undoSqliteMove(file: string): Promise<void> {
  const database = openForWriting(realPathOf(file))
  try {
    await createTransactions(database, () => {}).write(() => undoMove(database))
  } finally {
    database.close()
  }
}
