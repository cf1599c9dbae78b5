import { isUtf8 } from 'node:buffer'
import { PlantFileError, type RecordSource } from './plant-record.ts'

/** How the bytes of a text are to be read. */
export interface Encoding {
  /** As TextDecoder calls it. */
  readonly name: string
  /** 0 where there is no byte order mark. */
  readonly markBytes: number
}

const byteOrderMarks: readonly (readonly [name: string, mark: Buffer])[] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
]

/** The encoding that a byte order mark decides, else what was asked for, else UTF-8. */
export function findEncoding(head: Buffer, asked = 'utf-8'): Encoding {
  for (const [name, mark] of byteOrderMarks) {
    if (head.subarray(0, mark.length).equals(mark)) return { name, markBytes: mark.length }
  }
  return { name: asked, markBytes: 0 }
}

/** The characters of Windows-1252 from 0x80 to 0x9F, where it is not Latin-1 (Encoding Standard). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** TextDecoder of Node 20 takes Windows-1252 for Latin-1 (nodejs/node#56542). */
function repair(text: string, encoding: string): string {
  if (encoding !== 'windows-1252') return text
  return text.replace(/[\x80-\x9f]/g, (unit) => WINDOWS_1252[unit.charCodeAt(0) - 0x80] ?? unit)
}

/**
 * Turns a text into UTF-8 piece by piece, without its byte order mark. Bytes that its encoding does
 * not have become U+FFFD, but for UTF-8, where they stay.
 */
export function createDecoder({ name, markBytes }: Encoding): {
  decode(chunk: Buffer, isLast: boolean): Buffer
} {
  const decoder = name === 'utf-8' ? undefined : new TextDecoder(name, { ignoreBOM: true })
  let markLeft = markBytes
  return {
    decode(chunk, isLast) {
      const bytes = markLeft > 0 ? chunk.subarray(markLeft) : chunk
      markLeft -= chunk.length - bytes.length
      return decoder === undefined
        ? bytes
        : Buffer.from(repair(decoder.decode(bytes, { stream: !isLast }), name))
    },
  }
}

export async function* toUtf8(
  chunks: AsyncIterable<Buffer>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  const decoder = createDecoder(encoding)
  for await (const chunk of chunks) yield decoder.decode(chunk, false)
  yield decoder.decode(Buffer.alloc(0), true)
}

const REPLACEMENT = Buffer.from('\ufffd')

/** @throws PlantFileError for a record with bytes that its encoding does not have. */
export function refuseInvalid({ line, source, isCut }: RecordSource, encoding: string): void {
  if (isCut) return
  if (encoding !== 'utf-8') {
    if (!source.includes(REPLACEMENT)) return
    throw new PlantFileError(
      `line ${line} is not valid ${encoding}, or has U+FFFD. Try: another --encoding`,
    )
  }
  if (isUtf8(source)) return
  throw new PlantFileError(
    `line ${line} is not valid UTF-8. Try: --encoding windows-1252, or whatever it was saved in`,
  )
}
