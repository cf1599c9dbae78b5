/** The value of a JSON number, however long: ±0.digits × 10^point. */
export interface ExactNumber {
  readonly isNegative: boolean
  /** Without zeros at either end; empty for zero. */
  readonly digits: string
  readonly point: bigint
}

/** Reads a number as RFC 8259 §6 spells it, from its characters and never as a double. */
export function readNumber(source: string): ExactNumber {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().replace(/^-/, '').split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const significant = (whole + fraction).replace(/^0+/, '')
  const digits = significant.replace(/0+$/, '')
  const point = BigInt(exponent) + BigInt(significant.length - fraction.length)
  return { isNegative: source.startsWith('-') && digits !== '', digits, point }
}

export function isInteger({ digits, point }: ExactNumber): boolean {
  return BigInt(digits.length) <= point || digits === ''
}

/** @throws RangeError for a fraction, and for an integer of more than a hundred digits. */
export function toBigInt(number: ExactNumber): bigint {
  if (number.digits === '') return 0n
  if (!isInteger(number) || number.point > 100n) throw new RangeError('no short integer')
  const magnitude = BigInt(number.digits.padEnd(Number(number.point), '0'))
  return number.isNegative ? -magnitude : magnitude
}

function compareMagnitudes(one: ExactNumber, other: ExactNumber): number {
  if (one.digits === '' || other.digits === '') return one.digits.length - other.digits.length
  if (one.point !== other.point) return one.point < other.point ? -1 : 1
  // Both are 0.digits, so that they are ordered as text is.
  if (one.digits === other.digits) return 0
  return one.digits < other.digits ? -1 : 1
}

/** Negative where one is less than the other, 0 where they are equal, else positive. */
export function compareNumbers(one: ExactNumber, other: ExactNumber): number {
  if (one.isNegative !== other.isNegative) return one.isNegative ? -1 : 1
  return one.isNegative ? compareMagnitudes(other, one) : compareMagnitudes(one, other)
}
