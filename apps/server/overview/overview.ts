import uPlot from 'uplot'
import { compare, type Moment, parseScrape, type Scrape } from './measure.ts'

const SAMPLE_MS = 2_000
const SHOWN_SECONDS = 300
const HEIGHT = 160

/** As in overview.css; seen well on light and dark. */
const COLOURS = ['#2f9e58', '#d9822b']

type Field = Exclude<keyof Moment, 'at'>

const PLOTS: readonly { title: string; unit: string; lines: Partial<Record<Field, string>> }[] = [
  { title: 'Plants stored', unit: '/s', lines: { stored: 'stored' } },
  { title: 'Time to the response 200', unit: ' ms', lines: { p50: 'p50', p99: 'p99' } },
  { title: 'Refusals and errors', unit: '/s', lines: { refused: '4xx', failed: '5xx' } },
  { title: 'Queue', unit: '', lines: { waiting: 'plants that wait for a commit' } },
]

const moments: Moment[] = []
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

/** `8:43:30` */
function toClock(time: number): string {
  return new Date(time * 1_000).toLocaleTimeString([], { hourCycle: 'h23' })
}

function createPlot({ title, unit, lines }: (typeof PLOTS)[number]): () => void {
  const words = element('p', '')
  const host = element('div', '')
  byId('plots').append(element('article', '', element('h2', '', title), words, host))
  const fields = Object.keys(lines) as Field[]

  function describe(moment = moments.at(-1)): void {
    const parts = fields.flatMap((field, index) => {
      const value = moment?.[field]
      if (typeof value !== 'number') return []
      const text = `${lines[field]} ${numbers.format(value)}${unit}`
      return [element('span', `line-${index + 1}`, text), ' ']
    })
    words.replaceChildren(
      ...(parts.length > 0 ? parts : [moment ? 'no responses 200 now' : 'measuring']),
    )
  }

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
        y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
      },
      axes: [
        { ...look, values: times, space: 80, size: 24 },
        { ...look, size: 60 },
      ],
      series: [{}, ...fields.map((_, index) => ({ stroke: COLOURS[index] ?? '', width: 2 }))],
      hooks: { setCursor: [({ cursor }) => describe(moments[cursor.idx ?? -1])] },
    },
    [[], ...fields.map(() => [])],
    host,
  )
  new ResizeObserver(() => plot.setSize(size())).observe(host)
  return () => {
    const columns = fields.map((field) => moments.map((moment) => moment[field]))
    plot.setData([moments.map(({ at }) => at), ...columns])
    if (plot.cursor.idx == null) describe()
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
  const { version, node, store, settings } = await response.json()
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
