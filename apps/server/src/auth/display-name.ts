const MOST_CHARACTERS = 64

/** Text from outside as a name for logs and terminals: what neither could be harmed by, and not long. */
export function displayName(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(/[^\w.@:/+|-]/g, '_')
}
