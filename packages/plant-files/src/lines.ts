const LINE_FEED = 0x0a

export interface Line {
  /** Counted from 1. */
  readonly number: number
  /** Without its line feed; of a line that is longer than the limit one byte more than that. */
  readonly bytes: Buffer
}

/** Splits bytes at line feeds, keeping little more than `limitBytes` of a line. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  limitBytes: number,
): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let length = 0
  let number = 0

  function take(part: Buffer): void {
    const kept = part.subarray(0, limitBytes + 1 - length)
    length += kept.length
    if (kept.length > 0) parts.push(kept)
  }

  function end(): Line {
    const [first = Buffer.alloc(0)] = parts
    const bytes = parts.length > 1 ? Buffer.concat(parts) : first
    parts = []
    length = 0
    return { number: ++number, bytes }
  }

  for await (const chunk of chunks) {
    let start = 0
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, at))
      yield end()
      start = at + 1
    }
    take(chunk.subarray(start))
  }
  if (length > 0) yield end()
}
