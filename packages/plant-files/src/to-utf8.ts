import type { Encoding } from './dialect.ts'

/** Turns bytes into UTF-8 piece by piece; what is invalid stays invalid. */
export interface ToUtf8 {
  push(chunk: Buffer): Buffer
  end(): Buffer
}

/** A byte that UTF-8 never has. */
const INVALID = Buffer.of(0xff)

const NOTHING = Buffer.alloc(0)

/** The characters of Windows-1252 from 0x80 to 0x9F, where it is not Latin-1 (Encoding Standard, "index windows-1252"). */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** Without TextDecoder, which takes Windows-1252 for Latin-1 in Node 20 (nodejs/node#56542). */
function fromWindows1252(chunk: Buffer): Buffer {
  const text = chunk
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (unit) => WINDOWS_1252[unit.charCodeAt(0) - 0x80] ?? unit)
  return Buffer.from(text)
}

function encodeUtf8(text: string): Buffer {
  const parts = text.split(/\p{Cs}/u).map((part) => Buffer.from(part))
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [INVALID, part])))
}

/** The length of UTF-16LE without half a character at its end. */
function wholeLength(bytes: Buffer): number {
  const even = bytes.length - (bytes.length % 2)
  const isHighSurrogate = even > 0 && ((bytes[even - 1] ?? 0) & 0xfc) === 0xd8
  return isHighSurrogate ? even - 2 : even
}

function fromUtf16(isBigEndian: boolean): ToUtf8 {
  let rest = NOTHING
  return {
    push(chunk) {
      const bytes = Buffer.concat([rest, chunk])
      const even = bytes.length - (bytes.length % 2)
      if (isBigEndian) bytes.subarray(0, even).swap16()
      const length = wholeLength(bytes)
      rest = Buffer.from(bytes.subarray(length))
      if (isBigEndian) rest.subarray(0, even - length).swap16()
      return encodeUtf8(bytes.toString('utf16le', 0, length))
    },
    end: () => (rest.length === 0 ? NOTHING : INVALID),
  }
}

export function createToUtf8(encoding: Encoding): ToUtf8 {
  if (encoding === 'utf-16le') return fromUtf16(false)
  if (encoding === 'utf-16be') return fromUtf16(true)
  const push = encoding === 'utf-8' ? (chunk: Buffer) => chunk : fromWindows1252
  return { push, end: () => NOTHING }
}
