/** What a JSON text is made of: strings, brackets and punctuation, and all else. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * The member of an object as it stands in its JSON text, which must be valid: with all its digits,
 * where it is a number. A repeated member counts by its last value.
 */
export function jsonMemberText(text: string, member: string): string | undefined {
  let depth = 0
  let key: string | undefined
  let before = ''
  let found: string | undefined
  for (const [token] of text.matchAll(TOKEN)) {
    if (before === ':' && depth === 1 && key === member) found = token
    if (token === ':' && depth === 1) key = JSON.parse(before)
    if (token === '{' || token === '[') depth++
    if (token === '}' || token === ']') depth--
    before = token
  }
  return found
}
