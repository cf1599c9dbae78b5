import type { Run, Screen } from './screen.ts'

/** A screen, and how long after the first it appeared. */
export interface Frame extends Screen {
  readonly atMs: number
}

export interface Recording {
  readonly title: string
  /** What it shows, in words, for who does not see it. */
  readonly description: string
  readonly columns: number
  readonly frames: readonly Frame[]
  /** How long the last frame stays before the first is shown again. */
  readonly holdMs: number
}

/** Of one character, in the units of the drawing. */
const CELL = { width: 8.4, height: 19, baseline: 14, fontSize: 14 }
const MARGIN = 18

/** Light and dark, as GitHub colours text; each has a contrast of at least 4.5 to its page. */
const STYLE = `
svg { --page: #f6f8fa; --edge: #d0d7de; --text: #1f2328; --dim: #59636e; --red: #c21c2c; --green: #116329; --yellow: #7d4e00; --blue: #0550ae; --magenta: #8250df; --cyan: #1b6a7a }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --edge: #3d444d; --text: #e6edf3; --dim: #9198a1; --red: #ff7b72; --green: #56d364; --yellow: #e3b341; --blue: #79c0ff; --magenta: #d2a8ff; --cyan: #76e3ea }
}
.page { fill: var(--page); stroke: var(--edge) }
text { font: ${CELL.fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--text); white-space: pre }
${['red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'dim'].map((name) => `.${name} { fill: var(--${name}) }`).join('\n')}
.bold { font-weight: 600 }
.underline { text-decoration: underline }
.cursor { fill: var(--text); opacity: 0.6 }`

/** A text as it stands in an XML document, outside attributes. */
export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100)
}

/** A run at its columns, whatever the width of the reader's font. */
function drawRun({ column, text, look }: Run, top: number): string {
  const width = short(text.length * CELL.width)
  const looks = look === '' ? '' : ` class="${look}"`
  const place = `x="${short(column * CELL.width)}" y="${top + CELL.baseline}"`
  return `<text ${place}${looks} textLength="${width}">${escapeXml(text)}</text>`
}

/** What is shown from a time on: the number of a version of a row, or a place of the cursor. */
interface Change<Value> {
  readonly atMs: number
  readonly value: Value
}

function changesOf<Value>(
  frames: readonly Frame[],
  read: (frame: Frame) => Value,
): Change<Value>[] {
  const changes: Change<Value>[] = []
  for (const frame of frames) {
    const value = read(frame)
    if (JSON.stringify(value) === JSON.stringify(changes.at(-1)?.value)) continue
    changes.push({ atMs: frame.atMs, value })
  }
  return changes
}

/** Jumps at each change, and stands at the last for who asks for less motion. */
function animate(name: string, changes: readonly Change<string>[], totalMs: number): string {
  const steps = changes.map(({ atMs, value }) => `${short((atMs / totalMs) * 100)}%{${value}}`)
  const animation = `animation:${name} ${totalMs}ms step-end infinite`
  return [
    `@keyframes ${name}{${steps.join('')}}`,
    `.${name}{${changes.at(-1)?.value}}`,
    `@media (prefers-reduced-motion:no-preference){.${name}{${animation}}}`,
  ].join('\n')
}

interface Drawn {
  readonly shapes: string
  readonly style: string
}

/** A row is a strip of all that it ever shows, of which a window shows one version at a time. */
function drawRow(recording: Recording, row: number, totalMs: number): Drawn {
  const changes = changesOf(recording.frames, ({ rows }) => rows[row] ?? [])
  const versions = [...new Set(changes.map(({ value }) => JSON.stringify(value)))]
  const strip = versions
    .flatMap((version, index) =>
      (JSON.parse(version) as Run[]).map((run) => drawRun(run, index * CELL.height)),
    )
    .join('\n')
  if (strip === '') return { shapes: '', style: '' }
  const window = `<g transform="translate(0 ${row * CELL.height})" clip-path="url(#window)">`
  if (versions.length === 1) return { shapes: `${window}\n${strip}\n</g>`, style: '' }
  const name = `row${row}`
  const moves = changes.map(({ atMs, value }) => {
    const top = versions.indexOf(JSON.stringify(value)) * CELL.height
    return { atMs, value: `transform:translateY(${-top}px)` }
  })
  return {
    shapes: `${window}<g class="${name}">\n${strip}\n</g></g>`,
    style: animate(name, moves, totalMs),
  }
}

function drawCursor({ frames }: Recording, totalMs: number): Drawn {
  const changes = changesOf(frames, ({ cursor }) => cursor ?? null).map(({ atMs, value }) => ({
    atMs,
    value:
      value === null
        ? 'visibility:hidden'
        : `visibility:visible;transform:translate(${short(value.column * CELL.width)}px,${value.row * CELL.height}px)`,
  }))
  return {
    shapes: `<rect class="cursor place" width="${CELL.width}" height="${CELL.height - 2}"/>`,
    style: animate('place', changes, totalMs),
  }
}

/**
 * A recording as an animated SVG that needs nothing else: no script, no font, no other file. Who asks
 * for less motion, or has no CSS, sees the last frame.
 */
export function drawRecording(recording: Recording): string {
  const { title, description, columns, frames, holdMs } = recording
  const last = frames.at(-1)
  if (last === undefined) throw new Error('there is nothing to draw')
  const totalMs = last.atMs + holdMs
  const drawn = last.rows.map((_, row) => drawRow(recording, row, totalMs))
  const cursor = drawCursor(recording, totalMs)
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN)
  const height = last.rows.length * CELL.height + 2 * MARGIN
  const style = [STYLE, ...drawn.map((row) => row.style), cursor.style].filter(Boolean)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    `<style>${style.join('\n')}\n</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    `<clipPath id="window"><rect width="${short(columns * CELL.width)}" height="${CELL.height}"/></clipPath>`,
    `<g transform="translate(${MARGIN} ${MARGIN})">`,
    ...drawn.map(({ shapes }) => shapes).filter(Boolean),
    cursor.shapes,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}
