import uPlot from 'uplot'
import { compare, type Moment, parseScrape, type Scrape } from './measure.ts'

const SAMPLE_MS = 2_000
const SHOWN_SECONDS = 300
const HEIGHT = 160

/** As in overview.css; seen well on light and dark. */
const COLOURS = ['#2f9e58', '#d9822b']
const LIMIT_COLOUR = '#c0392b'

/** From 0 on. */
const LOGARITHMIC = { distr: 100, fwd: Math.log1p, bwd: Math.expm1 } as const
const DECADES: uPlot.Axis = {
  filter: (_plot, splits) => splits,
  splits: (_plot, _axis, _least, most) =>
    [0, ...(most < 1_000 ? [1] : []), 10, 100, 1_000, 10_000].filter((tick) => tick <= most),
}

/** As the server has it: more plants are not counted. */
const MOST_COUNTED = 1_000_000

type Field = Exclude<keyof Moment, 'at'>

/** What the server says of itself that a plot shows as a dashed line. */
type Limits = Record<'connections' | 'waiting' | 'waitMs', number>

interface Plot {
  readonly title: string
  readonly unit: string
  readonly lines: Partial<Record<Field, string>>
  /** Where there are any, the axis is logarithmic, because most values are far below them. */
  readonly limited?: readonly (keyof Limits)[]
  readonly note: (limits: Limits) => string
}

const PLOTS: readonly Plot[] = [
  { title: 'Plants stored', unit: '/s', lines: { stored: 'stored' }, note: () => '' },
  {
    title: 'Time to the response 200',
    unit: ' ms',
    lines: { p50: 'p50', p99: 'p99' },
    limited: ['waitMs'],
    note: ({ waitMs }) => `Dashed: where plants wait for ${waitMs} ms on average, more get 503.`,
  },
  {
    title: 'Refusals and errors',
    unit: '/s',
    lines: { refused: '4xx', failed: '5xx' },
    note: () => '',
  },
  {
    title: 'Load',
    unit: '',
    lines: { connections: 'connections', waiting: 'plants that wait' },
    limited: ['connections', 'waiting'],
    note: ({ connections, waiting }) =>
      `Dashed: at most ${numbers.format(connections)} connections; ${waiting} plants may always wait.`,
  },
]

const moments: Moment[] = []
let limits: Limits | undefined
const numbers = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })

function byId(id: string): HTMLElement {
  return document.getElementById(id) as HTMLElement
}

function element(tag: string, className: string, ...children: (Node | string)[]): HTMLElement {
  const made = document.createElement(tag)
  made.className = className
  made.append(...children)
  return made
}

/** `8:43` */
function toClock(time: number): string {
  const format = { hour: 'numeric', minute: '2-digit', hourCycle: 'h23' } as const
  return new Date(time * 1_000).toLocaleTimeString([], format)
}

/** Dashed lines from side to side. */
function drawLimits({ ctx, bbox, valToPos }: uPlot, shown: readonly number[]): void {
  ctx.save()
  ctx.strokeStyle = LIMIT_COLOUR
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  for (const limit of shown) {
    const y = valToPos(limit, 'y', true)
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  ctx.restore()
}

/** The current value of each line, beside its colour. */
function describe({ lines, unit }: Plot, moment: Moment | undefined): (Node | string)[] {
  if (moment === undefined) return ['measuring']
  const parts = (Object.entries(lines) as [Field, string][]).flatMap(([field, label], index) => {
    const value = moment[field]
    if (value === null) return []
    return [element('span', `line-${index + 1}`, `${label} ${numbers.format(value)}${unit}`), ' ']
  })
  return parts.length > 0 ? parts : ['no responses 200 now']
}

function createPlot(about: Plot): () => void {
  const { title, lines, limited = [], note } = about
  const words = element('p', '')
  const host = element('div', '')
  const below = element('p', 'note')
  byId('plots').append(element('article', '', element('h2', '', title), words, host, below))
  const shown = () => (limits === undefined ? [] : limited.map((name) => limits?.[name] ?? 0))
  const fields = Object.keys(lines) as Field[]
  const say = (moment = moments.at(-1)) => words.replaceChildren(...describe(about, moment))

  const look = { stroke: '#84908a', grid: { stroke: '#84908a40', width: 1 } }
  const times = (_plot: uPlot, values: number[]) => values.map(toClock)
  const size = () => ({ width: Math.max(host.clientWidth, 120), height: HEIGHT })
  const plot = new uPlot(
    {
      ...size(),
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        x: { range: () => [Date.now() / 1_000 - SHOWN_SECONDS, Date.now() / 1_000] },
        y: {
          ...(limited.length > 0 ? LOGARITHMIC : {}),
          range: (_plot, _least, most) => [0, Math.max(most, ...shown()) * 1.1 || 1],
        },
      },
      axes: [
        { ...look, values: times, space: 45, size: 24, incrs: [60] },
        { ...look, size: 60, ...(limited.length > 0 ? DECADES : {}) },
      ],
      series: [{}, ...fields.map((_, index) => ({ stroke: COLOURS[index] ?? '', width: 2 }))],
      hooks: {
        setCursor: [({ cursor }) => say(moments[cursor.idx ?? -1])],
        draw: [(plot) => drawLimits(plot, shown())],
      },
    },
    [[], ...fields.map(() => [])],
    host,
  )
  new ResizeObserver(() => plot.setSize(size())).observe(host)
  return () => {
    const columns = fields.map((field) => moments.map((moment) => moment[field]))
    below.textContent = limits === undefined ? '' : note(limits)
    plot.setData([moments.map(({ at }) => at), ...columns])
    if (plot.cursor.idx == null) say()
  }
}

function ask(path: string): Promise<Response> {
  return fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(5_000) })
}

function showState(words: string, reason = ''): void {
  document.documentElement.className = words === 'Ready' ? '' : 'bad'
  byId('state').textContent = words
  byId('reason').textContent = reason
  document.title = `${words} – Plant Store`
}

async function showAbout(response: Response): Promise<void> {
  const { version, node, plants, store, settings, limits: given } = await response.json()
  limits = given
  const more = plants === MOST_COUNTED ? 'At least ' : ''
  byId('plants').textContent =
    plants === undefined
      ? 'Plants not counted yet'
      : `${more}${plants.toLocaleString('en-US')} plants`
  const lines = settings.map(({ name, text }: Record<string, string>) => `${name}=${text}`)
  byId('version').textContent = `${version} on Node.js ${node}`
  byId('store').textContent = store
  byId('settings').textContent = lines.join('\n') || 'Every setting has its default.'
}

const redraws = PLOTS.map(createPlot)
let before: Scrape | undefined
let askedAt = 0

async function sample(): Promise<void> {
  const asked = [ask('readyz'), ask('metrics'), ask('about.json')] as const
  const [ready, metrics, about] = await Promise.all(asked)
  const now = parseScrape(await metrics.text())
  const at = Date.now() / 1_000
  if (before !== undefined) moments.push(compare(before, now, at, at - askedAt))
  before = now
  askedAt = at
  while ((moments[0]?.at ?? at) < at - SHOWN_SECONDS) moments.shift()
  await showAbout(about)
  if (ready.ok) showState('Ready')
  else showState('Not ready', (await ready.json()).message)
  for (const redraw of redraws) redraw()
}

for (;;) {
  await sample().catch(() => {
    showState('No response from the server', askedAt ? `The last was at ${toClock(askedAt)}.` : '')
  })
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
}
