/** Beyond all bounds of a document, however many digits those have. */
const MOST_ZEROS = 400n

/**
 * The integer that a number as RFC 8259 §6 spells it is, read from its characters and never as a
 * double; undefined for one with a fraction. One with more zeros than any bound has keeps as many.
 */
export function readInteger(source: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const significant = (whole + fraction).replace(/0+$/, '')
  if (/^-?$/.test(significant)) return 0n
  const dropped = whole.length + fraction.length - significant.length
  const zeros = BigInt(exponent) + BigInt(dropped - fraction.length)
  if (zeros < 0n) return undefined
  return BigInt(significant) * 10n ** (zeros < MOST_ZEROS ? zeros : MOST_ZEROS)
}
