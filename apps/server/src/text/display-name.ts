import { withoutCredentials } from './without-credentials.ts'

const MOST_CHARACTERS = 64

/** Text from outside as a name for logs and terminals: harmless to both, without tokens, and short. */
export function displayName(text: string): string {
  return withoutCredentials(text)
    .slice(0, MOST_CHARACTERS)
    .replace(/[^\w.@:/+|-]/g, '_')
}
