import { type Chart, createChart } from './chart.ts'
import { element } from './element.ts'
import { type Format, words } from './format.ts'
import { type Hour, shownWords, type Value } from './hour.ts'
import { type Line, linesOf, type Plot } from './plots.ts'

/** Two values, and the unit once where both have it. */
function range(format: Format, least: number, most: number): string {
  const [low, high] = [format(least), format(most)]
  const from = low.unit === high.unit || least === 0 ? low.number : `${low.number} ${low.unit}`
  return `${from} to ${high.number} ${high.unit}`
}

function there(values: readonly Value[]): number[] {
  return values.filter((value) => value !== null)
}

/** The last hour of a line in words; undefined where nothing was measured. */
function describeHour(
  format: Format,
  { label, values, parts }: Line,
  isOnly: boolean,
): string | undefined {
  const known = there(values)
  if (known.length === 0) return undefined
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const all = least === most ? `${words(format, most)} throughout` : range(format, least, most)
  const busy = parts.length > 1 ? parts.filter(({ values }) => there(values).some(Boolean)) : []
  const names = busy.map((part) => part.label.replaceAll('_', ' ')).join(', ')
  return `${isOnly ? '' : `${label} `}${all}${names && ` (${names})`}`
}

function legendOf(lines: readonly Line[]): { list: HTMLElement; numbers: HTMLElement[] } {
  const numbers = lines.map(() => element('b', ''))
  const items = lines.map(({ label }, index) =>
    element(
      'li',
      '',
      element('i', `swatch line-${index + 1}`),
      `${label} `,
      numbers[index] as HTMLElement,
    ),
  )
  const list = element('ul', 'legend', ...items)
  list.hidden = lines.length < 2
  return { list, numbers }
}

/** A plot with its numbers, and the same in words. */
export class Card {
  readonly element: HTMLElement
  readonly #plot: Plot
  readonly #onPoint: (time: number | undefined) => void
  readonly #big = element('p', 'big')
  readonly #legend = element('div', '')
  readonly #host = element('div', 'plot')
  readonly #words = element('p', 'words')
  #chart: Chart | undefined
  #lines: Line[] = []
  #numbers: HTMLElement[] = []
  #times: readonly number[] = []

  /** `onPoint` hears which time a pointer is at, and undefined when it leaves. */
  constructor(plot: Plot, onPoint: (time: number | undefined) => void) {
    this.#plot = plot
    this.#onPoint = onPoint
    this.#host.setAttribute('aria-hidden', 'true')
    const names = [...new Set(plot.lines.map(({ name }) => name))]
    this.element = element(
      'article',
      'card',
      element('h3', '', plot.title),
      this.#big,
      this.#legend,
      this.#host,
      this.#words,
      element('p', 'names', ...names.map((name) => element('code', '', name))),
    )
  }

  /** Shows the samples up to `at`, in Unix ms. A plot that nobody measures is hidden. */
  draw(hour: Hour, at: number): void {
    const { format } = this.#plot
    const before = this.#lines.length
    this.#lines = linesOf(hour, this.#plot)
    this.#times = hour.times
    this.element.hidden = this.#lines.length === 0
    if (this.element.hidden) return
    if (this.#chart === undefined || before !== this.#lines.length) this.#start()
    const values = this.#lines.map((line) => line.values)
    this.#chart?.draw(hour.times, values, { from: at - hour.shownMs(at), to: at })
    this.element.classList.toggle('is-nothing', !values.flat().some(Boolean))
    const all = this.#lines.map((line) => describeHour(format, line, this.#lines.length === 1))
    const known = all.filter((words) => words !== undefined).join('; ')
    this.#words.textContent = `${shownWords(hour, at)}: ${known || 'nothing measured'}.`
  }

  /** Shows the numbers of one sample, by its index, and marks its time unless it is the newest. */
  point(index: number, isNewest: boolean): void {
    const { format } = this.#plot
    const values = this.#lines.map((line) => line.values[index] ?? null)
    const [first = null] = values
    const { number, unit } = first === null ? { number: '—', unit: '' } : format(first)
    const what = first !== null && this.#lines.length > 1 ? ` ${this.#lines[0]?.label}` : ''
    this.#big.replaceChildren(element('b', '', number), ` ${unit}${what}`)
    for (const [line, value] of values.entries()) {
      this.#numbers[line]?.replaceChildren(words(format, value))
    }
    this.#chart?.mark(isNewest ? undefined : this.#times[index])
  }

  /** Draws again, in the colours of now. */
  recolour(): void {
    this.#chart?.redraw()
  }

  #start(): void {
    this.#chart?.close()
    const { list, numbers } = legendOf(this.#lines)
    this.#chart = createChart(this.#host, this.#lines.length, this.#plot.format, this.#onPoint)
    this.#legend.replaceChildren(list)
    this.#numbers = numbers
  }
}
