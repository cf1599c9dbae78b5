import type { Case, RuntimeKind } from './case.ts'
import { cases } from './cases.ts'
import { type CaseResult, QUIET_CLAIM } from './run-cases.ts'
import { ENDS_CLAIM } from './run-in-process.ts'

/** What one runtime has found out. */
export interface Column {
  readonly title: string
  readonly kind: RuntimeKind
  readonly results: readonly CaseResult[]
}

const HOLDS = '✓'
const FAILS = '✗'
const NOT_ASKED = '–'

const INTRODUCTION = `Each line is a claim that the suite checks over real sockets, against a server that breaks the rules byte by byte. ${HOLDS} holds, ${FAILS} does not, ${NOT_ASKED} cannot be asked there; a number names what is different there.`

/** Every claim of the table, in order. */
export const claims: readonly string[] = [
  ...cases.map(({ claim }) => claim),
  QUIET_CLAIM,
  ENDS_CLAIM,
]

const notes = [...new Set(cases.flatMap(({ differs = {} }) => Object.values(differs)))]

function noteOf(one: Case | undefined, kind: RuntimeKind): string {
  const note = one?.differs?.[kind]
  return note === undefined ? '' : ` [${notes.indexOf(note) + 1}]`
}

/** The cells of a runtime, one for each claim. */
export function cellsOf({ kind, results }: Column): string[] {
  return claims.map((claim) => {
    const result = results.find((one) => one.claim === claim)
    if (result === undefined) return NOT_ASKED
    const one = cases.find((candidate) => candidate.claim === claim)
    return (result.holds ? HOLDS : FAILS) + noteOf(one, kind)
  })
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** The table of every claim and every runtime, as Markdown. */
export function formatTable(columns: readonly Column[]): string {
  const cells = columns.map(cellsOf)
  const lines = [
    row(['Claim', ...columns.map(({ title }) => title)]),
    row(['---', ...columns.map(() => ':-:')]),
    ...claims.map((claim, index) => row([claim, ...cells.map((column) => column[index] ?? '')])),
  ]
  const footnotes = notes.map((note, index) => `${index + 1}. ${note}`)
  return `${[INTRODUCTION, lines.join('\n'), footnotes.join('\n')].join('\n\n')}\n`
}

/** The cells of a runtime in a table that formatTable made; undefined where it has no such column. */
export function readCells(table: string, title: string): string[] | undefined {
  const [head = [], , ...rows] = table
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  const at = head.indexOf(title)
  return at < 0 ? undefined : rows.map((cells) => cells[at] ?? '')
}

/** The claims of a table that formatTable made. */
export function readClaims(table: string): string[] {
  return readCells(table, 'Claim') ?? []
}
