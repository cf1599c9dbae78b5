import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ServedStore, serveStore } from './served-store.ts'

const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))

export interface KillPlan {
  readonly rows: number
  /** How often the import is killed at most. */
  readonly kills: number
  /** The longest time from its start to its kill, in milliseconds. */
  readonly longestMs: number
  /** Whether the server is killed instead, and started again. */
  readonly killsServer?: boolean
  readonly log?: (line: string) => void
}

export interface KillOutcome {
  readonly kills: number
  /** What is not as it should be: nothing, unless a row was lost, changed or given out twice. */
  readonly wrong: readonly string[]
  /** The exit code of the last run. */
  readonly exitCode: number | null
  /** Rows that were sent though the server had them; unknown where the server was killed. */
  readonly sentAgain: number
}

/** Rows that are no plants, and rows whose id another plant has. */
const isBroken = (row: number) => row % 97 === 0
const isTaken = (row: number) => row % 89 === 0
/** What is not ASCII, quotes, delimiters and line breaks, so that the bytes are not like each other. */
const nameOf = (row: number) =>
  row % 5 === 0 ? `Fern "${row}", \n größer ${'x'.repeat(row % 50)}` : `Fern ${row}`

function writeRows(path: string, rows: number): void {
  const lines = Array.from({ length: rows }, (_, row) => {
    const id = isBroken(row) ? 'none' : String(row)
    return `${id},"${nameOf(row).replaceAll('"', '""')}"\n`
  })
  writeFileSync(path, `id,name\n${lines.join('')}`)
}

function startImport(file: string, store: ServedStore): ChildProcess {
  return spawn(process.execPath, [PROGRAM, 'import', file, '--progress', 'never'], {
    env: { PLANT_STORE_BASE_URL: store.url, PLANT_STORE_TOKEN: store.token },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
}

async function importAll(file: string, store: ServedStore): Promise<number | null> {
  const child = startImport(file, store)
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}

/** Runs the import and kills it after a random time; undefined where it was killed. */
async function runOnce(
  file: string,
  store: ServedStore,
  ms: number,
): Promise<number | null | undefined> {
  const child = startImport(file, store)
  const timer = setTimeout(() => child.kill('SIGKILL'), ms)
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  return signal === 'SIGKILL' ? undefined : code
}

async function killImport(file: string, store: ServedStore, plan: KillPlan) {
  let kills = 0
  while (kills < plan.kills) {
    const exitCode = await runOnce(file, store, Math.random() * plan.longestMs)
    if (exitCode !== undefined) return { kills, exitCode }
    kills++
    // It was killed between its last call and its end.
    if (!existsSync(`${file}.import-journal`) && existsSync(rejectsOf(file))) break
    if (kills % 10 === 0) plan.log?.(`${kills} kills, ${store.readNames().size} stored`)
  }
  if (!existsSync(`${file}.import-journal`) && kills > 0) return { kills, exitCode: 3 }
  return { kills, exitCode: await importAll(file, store) }
}

async function killServer(file: string, store: ServedStore, plan: KillPlan) {
  let exitCode: number | null | undefined
  const imported = importAll(file, store).then((code) => {
    exitCode = code
  })
  let kills = 0
  while (exitCode === undefined && kills < plan.kills) {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * plan.longestMs))
    await store.kill()
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 500))
    await store.start()
    kills++
  }
  await imported
  return { kills, exitCode: exitCode ?? null }
}

const rejectsOf = (file: string) => file.replace('.csv', '.rejects.csv')

/** Compares the store and the rejects with what every row should have become. */
function judge(file: string, store: ServedStore, rows: number): string[] {
  const wrong: string[] = []
  const names = store.readNames()
  const rejected: number[] = []
  // A quoted name has two lines, and each record is one match.
  const text = readFileSync(rejectsOf(file), 'utf8')
  for (const [, line] of text.matchAll(/^(\d+),(?:invalid_plant|id_taken),"/gm))
    rejected.push(Number(line))
  const expected: number[] = []
  let line = 2
  for (let row = 0; row < rows; row++) {
    if (isBroken(row) || isTaken(row)) expected.push(line)
    const name = isTaken(row) ? 'Other' : nameOf(row)
    const stored = names.get(BigInt(row))
    if (!isBroken(row) && stored !== name) wrong.push(`row ${row} is stored as ${stored}`)
    line += nameOf(row).includes('\n') ? 2 : 1
  }
  if (expected.join() !== rejected.join())
    wrong.push(`${rejected.length} rejects, not ${expected.length}`)
  const strangers = [...names.keys()].filter((id) => id >= BigInt(rows))
  if (strangers.length > 0) wrong.push(`${strangers.length} plants that are in no row`)
  if (existsSync(`${file}.import-journal`)) wrong.push('the journal is left')
  return wrong
}

/** Imports a file while it, or its server, is killed at random instants, and says what became of the rows. */
export async function killImports(plan: KillPlan): Promise<KillOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-kills-'))
  const file = join(folder, 'plants.csv')
  writeRows(file, plan.rows)
  const store = await serveStore(folder)
  try {
    const others = join(folder, 'others.csv')
    const taken = Array.from({ length: plan.rows }, (_, row) => row).filter(
      (row) => isTaken(row) && !isBroken(row),
    )
    writeFileSync(others, `id,name\n${taken.map((row) => `${row},Other\n`).join('')}`)
    if ((await importAll(others, store)) !== 0) throw new Error('the other plants are not stored')
    const { kills, exitCode } = await (plan.killsServer ? killServer : killImport)(
      file,
      store,
      plan,
    )
    const sentAgain = plan.killsServer ? Number.NaN : await store.count('already_there')
    return { kills, exitCode, sentAgain, wrong: judge(file, store, plan.rows) }
  } finally {
    await store.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}
