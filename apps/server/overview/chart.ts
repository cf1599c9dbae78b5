import uPlot from 'uplot'
import { colour } from './element.ts'
import { type Format, words } from './format.ts'
import type { Value } from './hour.ts'

/** As `.plot` in plots.css. */
const HEIGHT = 132

/** Hides the cursor of a plot. */
const NOWHERE = { left: -10, top: -10 }

export interface Chart {
  /** Draws these lines from one time to another. Times are Unix ms. */
  draw(
    times: readonly number[],
    lines: readonly (readonly Value[])[],
    range: { readonly from: number; readonly to: number },
  ): void
  /** Marks a time in Unix ms; undefined marks none. */
  mark(time: number | undefined): void
  /** In the colours of now. */
  redraw(): void
  close(): void
}

function axes(format: Format): uPlot.Axis[] {
  const look = {
    stroke: () => colour('quiet'),
    font: '11px system-ui, sans-serif',
    ticks: { show: false },
  }
  return [
    {
      ...look,
      grid: { show: false },
      size: 22,
      gap: 4,
      space: 64,
      values: (_plot, times) =>
        times.map((time) =>
          new Date(time * 1_000).toLocaleTimeString([], {
            hour: '2-digit',
            minute: '2-digit',
            hourCycle: 'h23',
          }),
        ),
    },
    {
      ...look,
      grid: { stroke: () => colour('line'), width: 1 },
      size: 62,
      gap: 6,
      space: 34,
      values: (_plot, values) => values.map((value) => shortWords(format, value)),
    },
  ]
}

/** Rates and counts need no unit beside an axis: the plot above says it. */
function shortWords(format: Format, value: number): string {
  if (value === 0) return '0'
  const { number, unit } = format(value)
  return unit.length <= 2 ? words(format, value) : number
}

/** The indexes of values without a neighbour, of which a line would show nothing. */
function findLonely(plot: uPlot, series: number): number[] {
  const values = plot.data[series] ?? []
  const isThere = (index: number) => typeof values[index] === 'number'
  return Array.from(values.keys()).filter(
    (index) => isThere(index) && !isThere(index - 1) && !isThere(index + 1),
  )
}

function createPlot(host: HTMLElement, lines: number, format: Format): uPlot {
  const line = (_: unknown, index: number): uPlot.Series => ({
    stroke: () => colour(`line-${lines === 1 ? 1 : index + 1}`),
    width: 1.75,
    points: { show: true, size: 5, filter: findLonely },
    ...(index === 0 && { fill: () => colour('fill') }),
  })
  return new uPlot(
    {
      width: Math.max(host.clientWidth, 120),
      height: HEIGHT,
      padding: [8, 4, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_plot, _least, most) => [0, most > 0 ? most * 1.12 : 1] } },
      axes: axes(format),
      series: [{}, ...Array.from({ length: lines }, line)],
    },
    [[], ...Array.from({ length: lines }, () => [])],
    host,
  )
}

/** The time under a pointer, or undefined where no sample is near. */
function timeAt(plot: uPlot, event: MouseEvent): number | undefined {
  const { left } = plot.over.getBoundingClientRect()
  return plot.data[0][plot.posToIdx(event.clientX - left)]
}

/** A plot of the last hour. `onPoint` hears which time the pointer is at, and undefined when it leaves. */
export function createChart(
  host: HTMLElement,
  lines: number,
  format: Format,
  onPoint: (time: number | undefined) => void,
): Chart {
  const plot = createPlot(host, lines, format)
  plot.over.addEventListener('mousemove', (event) => {
    const time = timeAt(plot, event)
    onPoint(time === undefined ? undefined : time * 1_000)
  })
  plot.over.addEventListener('mouseleave', () => onPoint(undefined))
  const resized = new ResizeObserver(() =>
    plot.setSize({ width: Math.max(host.clientWidth, 120), height: HEIGHT }),
  )
  resized.observe(host)
  return {
    draw(times, values, { from, to }) {
      plot.setData([times.map((time) => time / 1_000), ...values] as uPlot.AlignedData, false)
      plot.batch(() => {
        plot.setScale('x', { min: from / 1_000, max: to / 1_000 })
      })
    },
    mark(time) {
      const left = time === undefined ? undefined : plot.valToPos(time / 1_000, 'x')
      plot.setCursor(left === undefined ? NOWHERE : { left, top: 1 })
    },
    redraw: () => plot.redraw(false),
    close() {
      resized.disconnect()
      plot.destroy()
    },
  }
}
