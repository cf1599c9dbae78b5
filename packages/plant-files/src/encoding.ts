import { isUtf8 } from 'node:buffer'
import type { Doubt, Encoding } from './dialect.ts'

export interface FoundEncoding {
  readonly encoding: Encoding
  /** 0 where there is none. */
  readonly byteOrderMarkBytes: number
  readonly doubt?: Doubt
}

const byteOrderMarks: readonly (readonly [Encoding, Buffer])[] = [
  ['utf-8', Buffer.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Buffer.of(0xff, 0xfe)],
  ['utf-16be', Buffer.of(0xfe, 0xff)],
]

const NULS_LOOKED_AT_BYTES = 4_096

/** Half of the bytes of UTF-16 are NUL where most characters are of ASCII, always the same half. */
function findUtf16(head: Buffer): Encoding | undefined {
  const length = Math.min(head.length, NULS_LOOKED_AT_BYTES)
  const nuls = [0, 0]
  for (let at = 0; at < length; at++) if (head[at] === 0) nuls[at % 2] = (nuls[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = nuls
  const many = length / 8
  const few = length / 100
  if (odd > many && even <= few) return 'utf-16le'
  return even > many && odd <= few ? 'utf-16be' : undefined
}

/** Without a character of UTF-8 that the end of the head cuts. */
function withoutCutCharacter(head: Buffer): Buffer {
  for (let back = 1; back <= 3; back++) {
    const byte = head[head.length - back] ?? 0
    if (byte >= 0xc0) return head.subarray(0, head.length - back)
    if (byte < 0x80) break
  }
  return head
}

/** Bytes that no text of Windows-1252 has, or only seldom; they are letters in DOS and on old Macs. */
const RARE_IN_WINDOWS_1252 = /[\x81\x83\x86-\x8d\x8f\x90\x98\x9b-\x9d\x9f]|[\xc0-\xff]{3}/

/** What bytes are that are not UTF-8. */
function findSingleByte(head: Buffer): FoundEncoding {
  const byteOrderMarkBytes = 0
  const text = head.toString('utf8')
  const invalid = text.match(/\ufffd/g)?.length ?? 0
  const valid = text.match(/[^\0-\x7f\ufffd]/g)?.length ?? 0
  if (valid > 0) {
    const doubt = { question: 'it is UTF-8 in some places and not in others', flag: '--encoding' }
    return { encoding: valid > invalid ? 'utf-8' : 'windows-1252', byteOrderMarkBytes, doubt }
  }
  const encoding = 'windows-1252'
  if (!RARE_IN_WINDOWS_1252.test(head.toString('latin1'))) return { encoding, byteOrderMarkBytes }
  const question = 'it is not UTF-8, and some of its letters are rare in Windows-1252'
  return { encoding, byteOrderMarkBytes, doubt: { question, flag: '--encoding' } }
}

/** Finds the encoding of a file by its beginning; `isWhole`: whether that is all of it. */
export function findEncoding(
  head: Buffer,
  isWhole: boolean,
  asked: Encoding | undefined,
): FoundEncoding {
  for (const [encoding, mark] of byteOrderMarks) {
    if (head.subarray(0, mark.length).equals(mark)) {
      return { encoding, byteOrderMarkBytes: mark.length }
    }
  }
  const encoding = asked ?? findUtf16(head)
  if (encoding !== undefined) return { encoding, byteOrderMarkBytes: 0 }
  const characters = isWhole ? head : withoutCutCharacter(head)
  if (isUtf8(characters)) return { encoding: 'utf-8', byteOrderMarkBytes: 0 }
  return findSingleByte(characters)
}
