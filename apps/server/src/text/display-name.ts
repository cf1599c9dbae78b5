import { withoutCredentials } from './without-credentials.ts'

const MOST_CHARACTERS = 64

/** Text from outside as a name for logs and terminals: what neither could be harmed by, no token, and not long. */
export function displayName(text: string): string {
  return withoutCredentials(text)
    .slice(0, MOST_CHARACTERS)
    .replace(/[^\w.@:/+|-]/g, '_')
}
