import { describe, expect, test } from 'vitest'
import { createScrubber } from '../src/scrubber.ts'

describe('a scrubber', () => {
  test.each([
    ['Bearer abc', '[hidden]'],
    ['sent BEARER \t abc.d-e', 'sent [hidden]'],
    ['"authorization":"Bearer abc","next":1', '"authorization":"[hidden]","next":1'],
    ["bearer abc, bearer def; and 'bearer ghi'", "[hidden], [hidden]; and '[hidden]'"],
    ['forbearer abc', 'forbearer abc'],
    ['the bearer', 'the bearer'],
  ])('of no secret makes %j %j', (text, left) => {
    expect(createScrubber().scrub(text)).toBe(left)
  })

  test('hides each secret that it is told of, wherever it stands', () => {
    const { hide, scrub } = createScrubber()
    hide('a+b')
    hide('moss')
    expect(scrub('xa+bx MOSS aab %61%2b%62 &#97;&#x2b;b')).toBe(
      'x[hidden]x [hidden] aab [hidden] [hidden]',
    )
  })

  test('hides a secret before the credential that holds it', () => {
    const { hide, scrub } = createScrubber()
    hide('abc"def')
    expect(scrub('Bearer abc"def')).toBe('[hidden]')
  })
})
