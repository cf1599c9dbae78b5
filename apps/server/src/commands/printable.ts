/** Writes UTF-16 units as JSON does, so that they are seen and not obeyed. */
export function escapeUnits(text: string): string {
  return Array.from({ length: text.length }, (_, index) => {
    return `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`
  }).join('')
}
