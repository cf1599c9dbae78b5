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

/**
 * What the Encoding Standard has from 0x80 or 0xA0 on, where it is not Latin-1, in encodings that
 * Node.js lacks: TextDecoder of Node 20 takes Windows-1252 for Latin-1 (nodejs/node#56542).
 */
const tables: Readonly<Record<string, { readonly from: number; readonly characters: string }>> = {
  'windows-1252': { from: 0x80, characters: '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ' },
  'iso-8859-16': {
    from: 0xa0,
    characters:
      '\xa0ĄąŁ€„Š§š©Ș«Ź\xadźŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűùúûüęțÿ',
  },
}

/** The name of an encoding by one of its labels (Encoding Standard); undefined for a label of none. */
export function findEncodingName(label: string): string | undefined {
  const name = label.trim().toLowerCase()
  if (Object.hasOwn(tables, name)) return name
  try {
    return new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

/**
 * Turns a text into UTF-8 piece by piece. Bytes that its encoding does not have become U+FFFD, but
 * for UTF-8, where they stay.
 */
export function createDecoder(encoding: string): (bytes: Buffer, isLast: boolean) => Buffer {
  if (encoding === 'utf-8') return (bytes) => bytes
  const table = tables[encoding]
  if (table === undefined) {
    const decoder = new TextDecoder(encoding, { ignoreBOM: true })
    return (bytes, isLast) => Buffer.from(decoder.decode(bytes, { stream: !isLast }))
  }
  const { from, characters } = table
  const decode = (unit: string) => characters[unit.charCodeAt(0) - from] ?? unit
  return (bytes) => Buffer.from(bytes.toString('latin1').replace(/[\x80-\xff]/g, decode))
}

/** A text as UTF-8, without its byte order mark. */
export async function* toUtf8(
  chunks: AsyncIterable<Buffer>,
  { name, markBytes }: Encoding,
): AsyncGenerator<Buffer> {
  const decode = createDecoder(name)
  let skip = markBytes
  for await (const chunk of chunks) {
    yield decode(chunk.subarray(skip), false)
    skip = Math.max(0, skip - chunk.length)
  }
  yield decode(Buffer.alloc(0), true)
}

const REPLACEMENT = Buffer.from('\ufffd')

/** @throws PlantFileError for a record with bytes that its encoding does not have. */
export function refuseInvalid({ line, source, isCut }: RecordSource, encoding: string): void {
  const isUnicode = encoding === 'utf-8'
  if (isCut || (isUnicode ? isUtf8(source) : !source.includes(REPLACEMENT))) return
  const why = isUnicode
    ? 'UTF-8. Try: --encoding windows-1252, or whatever it was saved in'
    : `${encoding}, or has U+FFFD. Try: another --encoding`
  throw new PlantFileError(`line ${line} is not valid ${why}`)
}
