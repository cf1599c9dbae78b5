import { describe, expect, test } from 'vitest'
import { createScrub } from '../src/scrubber.ts'

const codePoint = (one: string) => `\\u00${one.charCodeAt(0).toString(16)}`
const numberOf = (one: string) => `&#${one.charCodeAt(0)};`

describe('a scrubber', () => {
  test.each([
    ['Bearer abc1', '[hidden]'],
    ['sent BEARER \t abc.d-e_2', 'sent [hidden]'],
    ['"authorization":"Bearer abc1","next":1', '"authorization":"[hidden]","next":1'],
    ["bearer 1abc, bearer d2ef; and 'bearer ghi3'", "[hidden], [hidden]; and '[hidden]'"],
    ['forbearer abc1', 'forbearer abc1'],
    ['the bearer', 'the bearer'],
    [
      'the Bearer scheme is required, as in RFC 6750',
      'the Bearer scheme is required, as in RFC 6750',
    ],
    ['of plant_0a1b2c3d4e5f_Ab-c_D here', 'of [hidden] here'],
    ['of plant_store_errors here', 'of plant_store_errors here'],
  ])('of no secret makes %j %j', (text, left) => {
    expect(createScrub(new Set())(text)).toBe(left)
  })

  test('hides each secret that it was given, wherever it stands', () => {
    const secrets = new Set<string>()
    const hide = (secret: string) => void secrets.add(secret)
    const scrub = createScrub(secrets)
    hide('abcd+efg')
    hide('mossmoss')
    expect(scrub('xabcd+efgx MOSSMOSS abcdefg abcd%2befg abcd&#x2b;efg')).toBe(
      'x[hidden]x [hidden] abcdefg [hidden] [hidden]',
    )
  })

  test.each(['token', 'e', 'plant', 'valid'])(
    'leaves words alone where %s is the token',
    (token) => {
      const secrets = new Set<string>()
      const hide = (secret: string) => void secrets.add(secret)
      const scrub = createScrub(secrets)
      hide(token)
      const text = 'the token of the plant is not valid, for this reason'
      expect(scrub(text)).toBe(text)
      expect(scrub(`you sent Bearer ${token}.`)).toBe('you sent Bearer [hidden].')
    },
  )

  test.each([
    ['a newline and a return', 'a\r\nb', 'a\\u000d\\u000ab'],
    ['what clears a terminal', '\u001b[2J', '\\u001b[2J'],
    ['a control of C1', '\u009b2J', '\\u009b2J'],
    ['delete', '\u007f', '\\u007f'],
    ['a direction', 'a\u202eb', 'a\\u202eb'],
    ['separators of lines and paragraphs', '\u2028\u2029', '\\u2028\\u2029'],
    ['half a character', '\ud800', '\\ud800'],
    ['a language tag', '\u{e0001}', '\\ue0001'],
  ])('shows %s instead of passing it on', (_what, text, left) => {
    expect(createScrub(new Set())(text)).toBe(left)
  })

  test('passes on letters and signs of every script', () => {
    const text = 'Ünï 植物 🌱 ¿“quoted”?'
    expect(createScrub(new Set())(text)).toBe(text)
  })

  test.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['in upper case', (secret) => secret.toUpperCase()],
    ['in a URL', encodeURIComponent],
    ['in a URL within a URL', (secret) => encodeURIComponent(encodeURIComponent(secret))],
    ['in JSON', (secret) => JSON.stringify(secret)],
    ['in JSON within JSON', (secret) => JSON.stringify(JSON.stringify(secret))],
    ['in JSON with code points', (secret) => JSON.stringify(secret).replace(/[<+/]/g, codePoint)],
    ['in a page', (secret) => secret.replace(/&/g, '&amp;').replace(/</g, '&lt;')],
    ['in a page, as numbers', (secret) => secret.replace(/[+&<]/g, numberOf)],
  ])('hides a secret %s, however long, and nothing beside it', (_how, spell) => {
    for (const secret of ['a+b/c=="\\x', 'abc%2Bdef%', '\\\\\\u0041&amp;<', 'Z-9~'.repeat(300)]) {
      const secrets = new Set<string>()
      const hide = (secret: string) => void secrets.add(secret)
      const scrub = createScrub(secrets)
      hide(secret)
      expect(scrub(`before ${spell(secret)}, after ${spell(secret)}`)).toMatch(
        /^before "?(?:\\?")?\[hidden\](?:\\?")?"?, after "?(?:\\?")?\[hidden\](?:\\?")?"?$/,
      )
    }
  })

  test.each([
    ['unknown names of HTML', '&x;'.repeat(150_000)],
    ['what almost is the secret', `${'a'.repeat(3_999)} `.repeat(100)],
    ['nothing but its first character', 'a'.repeat(400_000)],
    ['backslashes', '\\'.repeat(400_000)],
    ['percent signs', '%25'.repeat(150_000)],
    ['beginnings of a credential', 'bearer '.repeat(60_000)],
    ['a credential of spaces', `bearer${' '.repeat(400_000)}`],
  ])('is done in a moment with %s', (_what, text) => {
    const secrets = new Set<string>()
    const hide = (secret: string) => void secrets.add(secret)
    const scrub = createScrub(secrets)
    hide(`${'a'.repeat(4_000)}b`)
    hide(`b${'a'.repeat(4_000)}`)
    hide(`${'\\'.repeat(40)}x`)
    const start = process.cpuUsage()
    scrub(text)
    const { user, system } = process.cpuUsage(start)
    // Twenty times what it takes, in microseconds of the processor, which others may have meanwhile.
    expect(user + system).toBeLessThan(500_000)
  })

  test('shows only the beginning of a text that is longer than it reads', () => {
    const secrets = new Set<string>()
    const hide = (secret: string) => void secrets.add(secret)
    const scrub = createScrub(secrets)
    const secret = 'abc'.repeat(3_000)
    hide(secret)
    const text = `${'x'.repeat(1_000)} ${secret} ${'y'.repeat(20_000)}`
    expect(scrub(text)).toBe(`${'x'.repeat(1_000)} [hidden] ${'y'.repeat(14)}…`)
    expect(scrub(`${'y'.repeat(16_000)}${secret}`)).toBe(`${'y'.repeat(1_024)}…`)
  })

  test('hides a secret before the credential that holds it', () => {
    const secrets = new Set<string>()
    const hide = (secret: string) => void secrets.add(secret)
    const scrub = createScrub(secrets)
    hide('abc1"defg')
    expect(scrub('Bearer abc1"defg')).toBe('Bearer [hidden]')
  })
})
