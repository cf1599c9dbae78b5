import fc, { type Arbitrary } from 'fast-check'

const codeUnit = fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit))
const suspicious = fc.constantFrom(
  ...'a "\\/\n\t\u0000\u001f\u007fé\u2028\ufeff\ufffd',
  '🌿',
  '\ud83c',
  '\udf3f',
)

/** Any text that a JSON string can hold: lone surrogates and U+0000 as well. */
export const anyText: Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: codeUnit, maxLength: 5 }),
  fc.string({ unit: suspicious, maxLength: 5 }),
)

/** Texts of a pattern (JSON Schema 2020-12 §6.3.3), and some that are not. */
export function textsOf(pattern: string | undefined): Arbitrary<string> {
  if (pattern === undefined) return anyText
  const matching = fc.stringMatching(new RegExp(pattern, 'u'), { maxLength: 30 })
  return fc.oneof({ weight: 3, arbitrary: matching }, anyText)
}

function escapeAll(text: string): string {
  const escaped = Array.from({ length: text.length }, (_, index) => {
    const unit = text.charCodeAt(index).toString(16).padStart(4, '0')
    return `\\u${index % 2 === 0 ? unit : unit.toUpperCase()}`
  })
  return `"${escaped.join('')}"`
}

/** Text as a JSON string, its characters as they are or escaped. */
export function quoted(text: Arbitrary<string>): Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: text.map((raw) => JSON.stringify(raw)) },
    { weight: 1, arbitrary: text.map(escapeAll) },
  )
}
