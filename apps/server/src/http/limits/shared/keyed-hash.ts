import { randomBytes } from 'node:crypto'

/** The hash of a text: 128 bits in four numbers. */
export type Hash = Int32Array

/** Two keys of 64 bits, for the two halves of a hash. */
export type HashKey = Int32Array

export function createHashKey(): HashKey {
  const bytes = randomBytes(16)
  return Int32Array.from({ length: 4 }, (_, index) => bytes.readInt32LE(4 * index))
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

/** Two characters, or at the end the last of an odd number and the count of bytes. */
function wordAt(text: string, index: number): number {
  if (index + 1 < text.length) return text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16)
  return ((2 * text.length) << 24) | (index < text.length ? text.charCodeAt(index) : 0)
}

/**
 * HalfSipHash-2-4 with 64 bits (https://github.com/veorq/SipHash), of a text in UTF-16. Node's
 * crypto.hash takes two microseconds, ten times as long.
 */
function hashHalf(text: string, key: HashKey, into: Hash, at: number): void {
  let v0 = key[at] as number
  let v1 = (key[at + 1] as number) ^ 0xee
  let v2 = v0 ^ 0x6c796765
  let v3 = v1 ^ 0xee ^ 0x74656462
  const words = (text.length >> 1) + 1
  // Two steps without a word give the two numbers.
  for (let step = 0; step < words + 2; step++) {
    const isWord = step < words
    const word = isWord ? wordAt(text, 2 * step) : 0
    if (step === words) v2 ^= 0xee
    if (step > words) v1 ^= 0xdd
    v3 ^= word
    for (let rounds = isWord ? 2 : 4; rounds > 0; rounds--) {
      v0 = (v0 + v1) | 0
      v1 = rotate(v1, 5) ^ v0
      v0 = rotate(v0, 16)
      v2 = (v2 + v3) | 0
      v3 = rotate(v3, 8) ^ v2
      v0 = (v0 + v3) | 0
      v3 = rotate(v3, 7) ^ v0
      v2 = (v2 + v1) | 0
      v1 = rotate(v1, 13) ^ v2
      v2 = rotate(v2, 16)
    }
    v0 ^= word
    if (!isWord) into[at + step - words] = v1 ^ v3
  }
}

/**
 * A hash whose collisions cannot be found without the key, so that no caller can choose an address
 * that counts together with another's.
 */
export function createKeyedHash(key: HashKey): (text: string) => Hash {
  return (text) => {
    const hash = new Int32Array(4)
    hashHalf(text, key, hash, 0)
    hashHalf(text, key, hash, 2)
    return hash
  }
}
