import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHashKey, createKeyedHash } from '../../../src/http/limits/shared/keyed-hash.ts'

/** vectors_hsip64 of https://github.com/veorq/SipHash: hashes of no byte, of 00 01, of 00 01 02 03 and so on. */
const VECTORS = [
  '218d1f59b9b83cc8',
  '064f39ef7c50eb57',
  'd5e78a175be52ea1',
  'ce3e91358aa2bc25',
] as const

/** So many bytes from 0 up, as a text of UTF-16. */
function textOf(bytes: number): string {
  return Buffer.from(Array.from({ length: bytes }, (_, index) => index)).toString('utf16le')
}

test('a hash is HalfSipHash-2-4 with both halves of the key', () => {
  const half = Buffer.from([0, 1, 2, 3, 4, 5, 6, 7])
  const key = Int32Array.from([0, 4, 0, 4], (offset) => half.readInt32LE(offset))
  const hash = createKeyedHash(key)
  for (const [index, vector] of VECTORS.entries()) {
    const bytes = Buffer.from(hash(textOf(2 * index)).buffer)
    expect(bytes.toString('hex')).toBe(vector + vector)
  }
})

test('texts that differ have other hashes, and other keys give others', () => {
  const [hash, other] = [createKeyedHash(createHashKey()), createKeyedHash(createHashKey())]
  const texts = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 20 }), {
    minLength: 2,
    maxLength: 2,
  })
  fc.assert(
    fc.property(texts, ([one = '', two = '']) => {
      expect(hash(one)).toEqual(hash(one))
      expect(hash(one)).not.toEqual(hash(two))
      expect(hash(one)).not.toEqual(other(one))
    }),
  )
})
