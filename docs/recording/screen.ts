import xterm, { type IBufferCell, type Terminal } from '@xterm/headless'

/** Neighbouring cells of one look. */
export interface Run {
  readonly column: number
  readonly text: string
  /** Names of looks, such as `green bold`; empty for plain text. */
  readonly look: string
}

/** What a terminal shows at one time. */
export interface Screen {
  readonly rows: readonly (readonly Run[])[]
  /** Undefined while the program hides it. */
  readonly cursor: { readonly row: number; readonly column: number } | undefined
}

/** The palette of every terminal, in its order; the bright half follows. */
const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']

/** @throws Error where a program uses colours that a reader's terminal does not choose. */
function lookOf(cell: IBufferCell): string {
  const hasBackground = !cell.isBgDefault() || cell.isInverse() !== 0
  if (hasBackground || cell.isFgRGB() || (cell.isFgPalette() && cell.getFgColor() > 15)) {
    throw new Error('only the 16 colours of a terminal can be drawn, and no background')
  }
  const looks = cell.isFgPalette() ? [COLOURS[cell.getFgColor() % COLOURS.length] ?? ''] : []
  if (cell.isBold() !== 0) looks.push('bold')
  if (cell.isDim() !== 0) looks.push('dim')
  if (cell.isUnderline() !== 0) looks.push('underline')
  return looks.join(' ')
}

/** Cells of one look, without the blanks around them. */
function trimRun(column: number, text: string, look: string): Run[] {
  if (look.includes('underline')) return [{ column, text, look }]
  const trimmed = text.trim()
  return trimmed === '' ? [] : [{ column: column + text.indexOf(trimmed), text: trimmed, look }]
}

function readRow(terminal: Terminal, row: number): Run[] {
  const line = terminal.buffer.active.getLine(terminal.buffer.active.viewportY + row)
  const runs: Run[] = []
  let [start, text, look] = [0, '', '']
  for (let column = 0; column < terminal.cols; column++) {
    const cell = line?.getCell(column)
    if (cell === undefined) break
    if (cell.getWidth() !== 1) throw new Error(`"${cell.getChars()}" is wider than one cell`)
    const cellLook = lookOf(cell)
    if (cellLook !== look) {
      runs.push(...trimRun(start, text, look))
      start = column
      text = ''
      look = cellLook
    }
    text += cell.getChars() || ' '
  }
  return [...runs, ...trimRun(start, text, look)]
}

export interface Emulator {
  /** Resolves once the output has changed the screen. */
  write(output: string): Promise<void>
  read(): Screen
  /** The words on the screen, as lines without the blanks at their ends. */
  text(): string
}

/** A terminal that nobody sees: it turns what a program writes into what a person would see. */
export function createEmulator(columns: number, rows: number): Emulator {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true })
  let hasCursor = true
  const CURSOR = 25
  const lineAt = (row: number) => {
    const { active } = terminal.buffer
    return active.getLine(active.viewportY + row)?.translateToString(true) ?? ''
  }
  for (const [final, shows] of [
    ['h', true],
    ['l', false],
  ] as const) {
    terminal.parser.registerCsiHandler({ prefix: '?', final }, (parameters) => {
      if (parameters.includes(CURSOR)) hasCursor = shows
      return false
    })
  }
  return {
    write: (output) => new Promise((resolve) => terminal.write(output, resolve)),
    read: () => ({
      rows: Array.from({ length: rows }, (_, row) => readRow(terminal, row)),
      cursor: hasCursor
        ? { row: terminal.buffer.active.cursorY, column: terminal.buffer.active.cursorX }
        : undefined,
    }),
    text: () =>
      Array.from({ length: rows }, (_, row) => lineAt(row))
        .join('\n')
        .trimEnd(),
  }
}

/** The words on a screen, as lines without the blanks at their ends. */
export function textOf({ rows }: Pick<Screen, 'rows'>): string {
  const lines = rows.map((runs) =>
    runs.reduce((line, { column, text }) => line.padEnd(column) + text, '').trimEnd(),
  )
  return lines.join('\n').trimEnd()
}
