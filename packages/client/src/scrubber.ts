/** Takes secrets out of words that came from elsewhere. */
export interface Scrubber {
  /** From now on this is hidden too. */
  hide(secret: string): void
  scrub(text: string): string
}

const CREDENTIAL = /\bbearer\s+[^\s"',;<>]+/gi

/** One character in the spellings in which servers and runtimes quote it: as it is, in JSON, URL, HTML. */
function spellingsOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16)
  return `(?:\\\\?\\x${hex}|\\\\u00${hex}|%${hex}|&(?:#${code}|#x${hex}|\\w+);)`
}

/** A scrubber that hides every bearer credential, and each secret that it is told of, in any case. */
export function createScrubber(): Scrubber {
  const patterns = [CREDENTIAL]
  return {
    hide(secret) {
      patterns.unshift(new RegExp(Array.from(secret, spellingsOf).join(''), 'gi'))
    },
    scrub: (text) => patterns.reduce((left, pattern) => left.replace(pattern, '[hidden]'), text),
  }
}
