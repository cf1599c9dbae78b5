import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createCallerAddresses } from '../../src/http/caller.ts'

function requestFrom(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage
}

const proxies = ['10.0.0.0/8', '192.0.2.1', '2001:db8:ffff::/48']
const callerOf = createCallerAddresses(proxies).ofRequest

/** Whom a proxy names, by the address that it writes; `undefined` if that is taken for none. */
function named(text: string): string | undefined {
  const caller = callerOf(requestFrom('10.1.2.3', text))
  return caller === '10.1.2.3' ? undefined : caller
}

describe('an address', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8:0:0::/64'],
    ['[2001:db8::1]', '2001:db8:0:0::/64'],
    ['[2001:db8::1]:443', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['1::2:3:4:5:6', '1:0:0:2::/64'],
  ])('%s is the caller %s', (text, expected) => expect(named(text)).toBe(expected))

  test.each([
    '',
    ' , ,',
    ',,,',
    '\x80\xff',
    'unknown',
    '192.0.2.256',
    '192.0.2.7:8:9',
    '[2001:db8::1]443',
    '1',
  ])('%j is none', (text) => expect(named(text)).toBeUndefined())
})

test('a text of 15 kB is refused in linear time', () => {
  const began = process.cpuUsage()
  for (const text of ['1.1.1.', '1.1.1.1:', '[', '::1%']) {
    for (const digit of ['1', '.', ':', '%']) {
      for (let times = 0; times < 100; times++) {
        expect(named(`${text}${digit.repeat(15_000)}x`)).toBeUndefined()
      }
    }
  }
  // A pattern that goes back for each character takes more than 100 ms for one of these.
  const { user, system } = process.cpuUsage(began)
  expect((user + system) / 1_000).toBeLessThan(2_000)
})

describe('the caller', () => {
  test('is who opened the connection where no proxy is trusted, whatever it says', () => {
    const { ofRequest } = createCallerAddresses([])
    expect(ofRequest(requestFrom('10.0.0.1', '198.51.100.1'))).toBe('10.0.0.1')
  })

  test.each([
    ['no proxy speaks', '198.51.100.9', '203.0.113.5', '198.51.100.9'],
    ['a mapped proxy names one', '::ffff:10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['an IPv6 proxy names one', '2001:db8:ffff::9', '203.0.113.5', '203.0.113.5'],
    ['proxies are behind proxies', '10.1.2.3', '203.0.113.5, 192.0.2.1,10.9.9.9', '203.0.113.5'],
    ['a stranger put others first', '10.1.2.3', '1.1.1.1, 10.0.0.7, 203.0.113.5', '203.0.113.5'],
    ['all are proxies', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['nothing is said', '10.1.2.3', undefined, '10.1.2.3'],
    ['nonsense stands before a proxy', '10.1.2.3', '203.0.113.5, for=x, 192.0.2.1', '192.0.2.1'],
    ['its connection has ended', undefined, '203.0.113.5', 'gone'],
    ['the header is the longest', '10.1.2.3', `${'10.0.0.1,'.repeat(1_600)}10.0.0.2`, '10.0.0.1'],
  ])('where %s', (_case, remoteAddress, forwarded, expected) => {
    expect(callerOf(requestFrom(remoteAddress, forwarded))).toBe(expected)
  })
})
