import { formatNumber, type Summary } from './statistics.ts'

export interface Series {
  readonly title: string
  /** The color and the sign of the points. */
  readonly look: 'ours' | 'fastify' | 'raw'
  /** Tells apart two series of one look. */
  readonly isDashed: boolean
  /** One for each tick of the x axis. */
  readonly points: readonly Summary[]
}

export interface Plot {
  readonly title: string
  /** For those who do not see the plot. */
  readonly description: string
  readonly xLabel: string
  readonly xTicks: readonly string[]
  readonly yLabel: string
  readonly yScale: 'linear' | 'log'
  readonly series: readonly Series[]
}

const WIDTH = 860
const HEIGHT = 440
/** Of the axes; the legend is to the right of them. */
const BOX = { left: 76, right: 600, top: 56, bottom: 376 }

const SIGNS = {
  ours: 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z',
  fastify: 'M-4.5 -4.5h9v9h-9z',
  raw: 'M0 -6l5.5 10h-11z',
}

/** Readable on light and on dark pages: the background is part of the picture. */
const STYLE = `
  svg { --page: #ffffff; --text: #1f2328; --grid: #d8dee4; --ours: #1a7f37; --fastify: #0969da; --raw: #8a4600 }
  @media (prefers-color-scheme: dark) {
    svg { --page: #0d1117; --text: #e6edf3; --grid: #30363d; --ours: #3fb950; --fastify: #58a6ff; --raw: #f0a050 }
  }
  text { font: 13px system-ui, sans-serif; fill: var(--text) }
  .title { font-size: 16px; font-weight: 600 }
  .page { fill: var(--page) }
  .grid { stroke: var(--grid) }
  .line, .range { fill: none; stroke-width: 2 }
  .range { stroke-width: 1.5; opacity: 0.6 }
  .dashed .line { stroke-dasharray: 6 4 }
  .dashed .sign { fill: var(--page) }
  .sign { stroke-width: 2 }
  .ours { stroke: var(--ours); fill: var(--ours) }
  .fastify { stroke: var(--fastify); fill: var(--fastify) }
  .raw { stroke: var(--raw); fill: var(--raw) }
`

function toXml(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;')
}

/** 1, 2 and 5 times the powers of ten, from just below `low` to just above `high`. */
function logTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low))
  const powers = Array.from({ length: Math.ceil(Math.log10(high)) - first + 1 }, (_, index) =>
    Number(`1e${first + index}`),
  )
  const ticks = powers.flatMap((power) => [power, 2 * power, 5 * power])
  const from = ticks.findLastIndex((tick) => tick <= low)
  return ticks.slice(from, ticks.findIndex((tick) => tick >= high) + 1)
}

/** Round steps from 0 to above `high`. */
function linearTicks(high: number): number[] {
  const step = logTicks(high / 10, high).find((one) => high / one <= 8) ?? high
  return Array.from({ length: Math.ceil(high / step) + 1 }, (_, index) => index * step)
}

function axisOf({ yScale, series }: Plot) {
  const points = series.flatMap((one) => one.points)
  const high = Math.max(...points.map((point) => point.high))
  const low = Math.min(...points.map((point) => point.low))
  const ticks = yScale === 'log' ? logTicks(low, high) : linearTicks(high)
  const measure = yScale === 'log' ? Math.log : (value: number) => value
  const [from, to] = [measure(ticks[0] ?? 0), measure(ticks.at(-1) ?? 1)]
  const height = BOX.bottom - BOX.top
  const y = (value: number) =>
    Number((BOX.bottom - (height * (measure(value) - from)) / (to - from)).toFixed(1))
  return { ticks, y }
}

function drawAxes(
  { title, xLabel, yLabel, xTicks }: Plot,
  x: number[],
  axis: ReturnType<typeof axisOf>,
) {
  const { left, right, top, bottom } = BOX
  const middle = (top + bottom) / 2
  return [
    `<text class="title" x="${left}" y="28">${toXml(title)}</text>`,
    ...axis.ticks.flatMap((tick) => [
      `<path class="grid" d="M${left} ${axis.y(tick)}H${right}"/>`,
      `<text x="${left - 8}" y="${axis.y(tick) + 4}" text-anchor="end">${formatNumber(tick)}</text>`,
    ]),
    ...xTicks.map(
      (tick, index) =>
        `<text x="${x[index]}" y="${bottom + 22}" text-anchor="middle">${tick}</text>`,
    ),
    `<text x="${(left + right) / 2}" y="${bottom + 48}" text-anchor="middle">${toXml(xLabel)}</text>`,
    `<text transform="translate(18 ${middle}) rotate(-90)" text-anchor="middle">${toXml(yLabel)}</text>`,
  ]
}

function drawSeries(
  { title, look, isDashed, points }: Series,
  x: number[],
  y: (value: number) => number,
  legendY: number,
) {
  const places = points.map(({ low, median, high }, index) => ({
    x: x[index],
    y: y(median),
    range: `M${x[index]} ${y(low)}V${y(high)}`,
  }))
  const line = places.map((place) => `${place.x} ${place.y}`).join('L')
  const sign = (at: string) =>
    `<path class="sign ${look}" transform="translate(${at})" d="${SIGNS[look]}"/>`
  const legendX = BOX.right + 24
  return [
    `<g${isDashed ? ' class="dashed"' : ''}>`,
    ...places.map(({ range }) => `<path class="range ${look}" d="${range}"/>`),
    `<path class="line ${look}" d="M${line}"/>`,
    ...places.map((place) => sign(`${place.x} ${place.y}`)),
    `<path class="line ${look}" d="M${legendX} ${legendY}h32"/>`,
    sign(`${legendX + 16} ${legendY}`),
    `<text x="${legendX + 42}" y="${legendY + 4}">${toXml(title)}</text>`,
    '</g>',
  ]
}

/** Draws lines over equally spaced ticks, with the range of each point, as an SVG file. */
export function drawPlot(plot: Plot): string {
  const { title, description, xTicks, series } = plot
  const step = (BOX.right - BOX.left) / xTicks.length
  const x = xTicks.map((_, index) => Number((BOX.left + step * (index + 0.5)).toFixed(1)))
  const axis = axisOf(plot)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title description">`,
    `<title id="title">${toXml(title)}</title>`,
    `<desc id="description">${toXml(description)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}"/>`,
    ...drawAxes(plot, x, axis),
    ...series.flatMap((one, index) => drawSeries(one, x, axis.y, BOX.top + 20 + 26 * index)),
    '</svg>\n',
  ].join('\n')
}
