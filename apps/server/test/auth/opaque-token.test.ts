import { describe, expect, test } from 'vitest'
import { createOpaqueToken, parseOpaqueToken } from '../../src/auth/opaque-token.ts'

describe('an opaque token', () => {
  test('comes apart into the id and the digest that it was made with', () => {
    const { text, id, secretSha256 } = createOpaqueToken()
    expect(text).toMatch(/^plant_[0-9a-f]{12}_[\w-]{43}[0-9a-f]{8}$/)
    expect(parseOpaqueToken(text)).toEqual({ id, secretSha256 })
  })

  test('is never made twice', () => {
    const texts = Array.from({ length: 1000 }, () => createOpaqueToken().text)
    expect(new Set(texts).size).toBe(1000)
    expect(new Set(texts.map((text) => text.slice(19, 62))).size).toBe(1000)
  })

  test('with any one character changed is known to be a typo', () => {
    const { text } = createOpaqueToken()
    for (let index = 0; index < text.length; index++) {
      const other = text[index] === 'a' ? 'b' : 'a'
      expect(parseOpaqueToken(text.slice(0, index) + other + text.slice(index + 1))).toBeUndefined()
    }
  })

  test.each(['', 'plant_', ' ', 'x'.repeat(20_000)])('is not made of %j', (text) => {
    expect(parseOpaqueToken(text)).toBeUndefined()
  })

  test('does not end with a line break', () => {
    expect(parseOpaqueToken(`${createOpaqueToken().text}\n`)).toBeUndefined()
  })
})
