import { formatNumber, type Summary } from './statistics.ts'

export interface Series {
  readonly title: string
  /** The color and the sign of the points. */
  readonly look: keyof typeof SIGNS
  readonly isDashed: boolean
  /** One for each tick of the x axis; the vertical line of a point is its range. */
  readonly points: readonly Summary[]
}

export interface Plot {
  readonly title: string
  readonly xLabel: string
  /** Equally spaced. */
  readonly xTicks: readonly string[]
  readonly yLabel: string
  readonly yScale: 'linear' | 'log'
  readonly series: readonly Series[]
}

type Scale = (value: number) => number

/** Between the axes; the legend is to the right of them. */
const [LEFT, RIGHT, TOP, BOTTOM] = [76, 600, 56, 376]

const SIGNS = {
  green: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z',
  blue: 'M-4.5 -4.5h9v9h-9z',
  brown: 'M0 -6l5.5 10h-11z',
}

/** The background is part of the picture, so that it is readable on any page. */
const STYLE = `
svg { --page: #fff; --text: #1f2328; --grid: #d8dee4; --green: #1a7f37; --blue: #0969da; --brown: #8a4600 }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --text: #e6edf3; --grid: #30363d; --green: #3fb950; --blue: #58a6ff; --brown: #f0a050 }
}
text { font: 13px system-ui, sans-serif; fill: var(--text) }
.title { font-size: 16px; font-weight: 600 }
.page, .dashed .sign { fill: var(--page) }
.grid { stroke: var(--grid) }
.green { stroke: var(--green); fill: var(--green) }
.blue { stroke: var(--blue); fill: var(--blue) }
.brown { stroke: var(--brown); fill: var(--brown) }
.line { fill: none; stroke-width: 2 }
.range { opacity: 0.5 }
.dashed .line { stroke-dasharray: 6 4 }
`

function text(x: number, y: number, words: string, anchor = 'start', more = ''): string {
  const escaped = words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${escaped}</text>`
}

/** 1, 2 and 5 times the powers of ten, from just below `low` to just above `high`. */
function logTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low))
  const count = Math.ceil(Math.log10(high)) - first + 1
  const powers = Array.from({ length: count }, (_, index) => Number(`1e${first + index}`))
  const ticks = powers.flatMap((power) => [power, 2 * power, 5 * power])
  const from = ticks.findLastIndex((tick) => tick <= low)
  return ticks.slice(from, ticks.findIndex((tick) => tick >= high) + 1)
}

/** Round steps from 0 to just above `high`, eight at most. */
function linearTicks(high: number): number[] {
  const step = logTicks(high / 10, high).find((one) => high / one <= 8) ?? high
  return Array.from({ length: Math.ceil(high / step) + 1 }, (_, index) => index * step)
}

function makeYAxis({ yScale, series }: Plot): { ticks: readonly number[]; y: Scale } {
  const points = series.flatMap((one) => one.points)
  const high = Math.max(...points.map((point) => point.high))
  const low = Math.min(...points.map((point) => point.low))
  const isLog = yScale === 'log'
  const ticks = isLog ? logTicks(low, high) : linearTicks(high)
  const measure = isLog ? Math.log : Number
  const [from, to] = [measure(ticks[0] ?? 0), measure(ticks.at(-1) ?? 1)]
  const y: Scale = (value) => BOTTOM - ((BOTTOM - TOP) * (measure(value) - from)) / (to - from)
  return { ticks, y: (value) => Number(y(value).toFixed(1)) }
}

function drawSeries(series: Series, index: number, x: readonly number[], y: Scale): string {
  const { title, look, isDashed, points } = series
  const legend = { x: RIGHT + 24, y: TOP + 20 + 26 * index }
  const line = (path: string, kind = 'line') => `<path class="${kind} ${look}" d="${path}"/>`
  const sign = (place: string) =>
    `<path class="sign ${look}" transform="translate(${place})" d="${SIGNS[look]}"/>`
  const places = points.map(({ median }, at) => `${x[at]} ${y(median)}`)
  return [
    `<g${isDashed ? ' class="dashed"' : ''}>`,
    ...points.map(({ low, high }, at) => line(`M${x[at]} ${y(low)}V${y(high)}`, 'range')),
    line(`M${places.join('L')}`),
    ...places.map(sign),
    line(`M${legend.x} ${legend.y}h32`),
    sign(`${legend.x + 16} ${legend.y}`),
    text(legend.x + 42, legend.y + 4, title),
    '</g>',
  ].join('\n')
}

/** For those who do not see the plot. */
function describePlot({ xLabel, xTicks, yLabel, series }: Plot): string {
  const values = series.map(({ title, points }) => {
    const each = points.map(({ median }, index) => `${formatNumber(median)} at ${xTicks[index]}`)
    return `${title}: ${each.join(', ')}.`
  })
  return `${yLabel}, by ${xLabel}. ${values.join(' ')}`
}

/** Draws lines over equally spaced ticks as an SVG file. */
export function drawPlot(plot: Plot): string {
  const step = (RIGHT - LEFT) / plot.xTicks.length
  const x = plot.xTicks.map((_, index) => Number((LEFT + step * (index + 0.5)).toFixed(1)))
  const { ticks, y } = makeYAxis(plot)
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 440" role="img" aria-labelledby="title description">',
    `<title id="title">${plot.title}</title>`,
    `<desc id="description">${describePlot(plot)}</desc>`,
    `<style>${STYLE}</style>`,
    '<rect class="page" width="860" height="440"/>',
    text(LEFT, 28, plot.title, 'start', ' class="title"'),
    ...ticks.map((tick) => `<path class="grid" d="M${LEFT} ${y(tick)}H${RIGHT}"/>`),
    ...ticks.map((tick) => text(LEFT - 8, y(tick) + 4, formatNumber(tick), 'end')),
    ...plot.xTicks.map((tick, index) => text(x[index] ?? 0, BOTTOM + 22, tick, 'middle')),
    text((LEFT + RIGHT) / 2, BOTTOM + 48, plot.xLabel, 'middle'),
    text(-(TOP + BOTTOM) / 2, 16, plot.yLabel, 'middle', ' transform="rotate(-90)"'),
    ...plot.series.map((one, index) => drawSeries(one, index, x, y)),
    '</svg>\n',
  ].join('\n')
}
