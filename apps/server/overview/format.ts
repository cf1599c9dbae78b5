/** A number as people read it. */
export interface Figure {
  readonly number: string
  readonly unit: string
}

/** Formats the values of one kind of measure. */
export type Format = (value: number) => Figure

/** Three digits, and no more of them after the point than people read. */
function digits(value: number): string {
  const fraction = value >= 100 ? 0 : value >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: value < 1 ? 3 : fraction })
}

function inSteps(steps: readonly (readonly [number, string])[]): Format {
  return (value) => {
    const [size, unit] = steps.find(([least]) => value >= least) ?? steps.at(-1) ?? [1, '']
    return { number: digits(value / size), unit }
  }
}

export const seconds = inSteps([
  [1, 's'],
  [0.001, 'ms'],
  [0.000_001, 'µs'],
])

export const bytes = inSteps([
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'B'],
])

export const rate: Format = (value) => ({ number: digits(value), unit: 'a second' })

export const share: Format = (value) => ({ number: digits(value * 100), unit: '%' })

export function counted(unit: string, ofOne = unit): Format {
  return (value) => ({ number: digits(value), unit: value === 1 ? ofOne : unit })
}

/** `4.2 ms`; a dash where there is no value. */
export function words(format: Format, value: number | null): string {
  if (value === null) return '—'
  const { number, unit } = format(value)
  return `${number} ${unit}`
}

/** The time of day, in the time zone of the reader. */
export function clock(time: number): string {
  return new Date(time).toLocaleTimeString([], { hourCycle: 'h23' })
}

export function dayAndTime(time: number): string {
  return new Date(time).toLocaleString([], {
    dateStyle: 'medium',
    timeStyle: 'short',
    hourCycle: 'h23',
  })
}

const SPANS = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const

/** `3 hours`; it has two units of the smaller one before it takes the larger. */
export function span(ms: number): string {
  const whole = Math.max(0, Math.round(ms / 1_000))
  const [size, unit] = SPANS.find(([least]) => whole >= 2 * least) ?? [1, 'second']
  const count = Math.floor(whole / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
