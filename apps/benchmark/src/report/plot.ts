import { formatNumber, medianOf } from './statistics.ts'
import { type Round, valuesOf } from './table.ts'

const TITLE = 'Creates per second at 64 connections'

/** The background is part of the picture, so that it is readable on any page. */
const STYLE = `
svg { --page: #fff; --text: #1f2328; --ours: #1a7f37; --other: #8c959f }
@media (prefers-color-scheme: dark) {
  svg { --page: #0d1117; --text: #e6edf3; --ours: #3fb950; --other: #6e7681 }
}
text { font-family: system-ui, sans-serif; font-size: 14px; fill: var(--text) }
.ours { fill: var(--ours) }
.other { fill: var(--other) }
`

/** Where the bars begin, how long the longest is, and how far they stand from each other. */
const [LEFT, LONGEST, STEP, TOP] = [210, 420, 34, 52]

/** Draws the median rates of the servers as an SVG file. */
export function drawPlot(rounds: readonly Round[]): string {
  const bars = (rounds[0] ?? [])
    .filter(({ title, atOnce }) => atOnce === 64 && /\(|PocketBase/.test(title))
    .map((row) => ({
      title: row.title,
      rate: medianOf(valuesOf(rounds, row, ({ perSecond }) => perSecond)),
    }))
    .toSorted((one, other) => other.rate - one.rate)
  const most = Math.max(...bars.map(({ rate }) => rate))
  const height = TOP + STEP * bars.length + 8
  const drawn = bars.map(({ title, rate }, index) => {
    const y = TOP + STEP * index
    const width = Math.ceil((LONGEST * rate) / most)
    const look = title.startsWith('Plant Store') ? 'ours' : 'other'
    return `<text x="${LEFT - 12}" y="${y + 16}" text-anchor="end">${title}</text>
<rect class="${look}" x="${LEFT}" y="${y}" width="${width}" height="22" rx="3"/>
<text x="${LEFT + width + 10}" y="${y + 16}">${formatNumber(rate)}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 ${height}" role="img" aria-labelledby="title description">
<title id="title">${TITLE}</title>
<desc id="description">${bars.map(({ title, rate }) => `${title}: ${formatNumber(rate)}.`).join(' ')}</desc>
<style>${STYLE}</style>
<rect fill="var(--page)" width="720" height="${height}"/>
<text font-weight="600" x="24" y="30">${TITLE}</text>
${drawn.join('\n')}
</svg>
`
}
