const LINE_FEED = 0x0a

export interface Line {
  /** Counted from 1. */
  readonly number: number
  /** Without its line feed; undefined when it is longer than the limit. */
  readonly bytes: Uint8Array | undefined
}

/** Splits bytes at line feeds, keeping at most `limitBytes` of a line. */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  limitBytes: number,
): AsyncGenerator<Line> {
  let parts: Uint8Array[] = []
  let length = 0
  let number = 0

  function take(part: Uint8Array): void {
    length += part.length
    if (length > limitBytes) parts = []
    else if (part.length > 0) parts.push(part)
  }

  function end(): Line {
    const bytes = length > limitBytes ? undefined : Buffer.concat(parts)
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
