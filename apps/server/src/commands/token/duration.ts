import { InvalidArgumentError } from 'commander'

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

const FORM = 'Write a number and m, h or d, such as 30m, 24h or 90d'

function readDuration(text: string, form: string): number {
  const [, digits, unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? []
  if (digits === undefined || Number(digits) === 0) throw new InvalidArgumentError(`${form}.`)
  return Number(digits) * UNIT_MS[unit as keyof typeof UNIT_MS]
}

/** Milliseconds from `30m`, `24h` or `90d`. */
export function parseDuration(text: string): number {
  return readDuration(text, FORM)
}

/** As parseDuration, and Infinity from `never`. */
export function parseLifetime(text: string): number {
  return text === 'never' ? Number.POSITIVE_INFINITY : readDuration(text, `${FORM}, or never`)
}
