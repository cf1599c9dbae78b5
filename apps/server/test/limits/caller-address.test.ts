import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  createCallerAddresses,
  networkOf,
  normalizeAddress,
} from '../../src/limits/caller-address.ts'

function requestFrom(remoteAddress: string | undefined, forwarded?: string): IncomingMessage {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return { socket: { remoteAddress }, headers } as unknown as IncomingMessage
}

describe('an address', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
  ])('%s is %s', (text, expected) => expect(normalizeAddress(text)).toBe(expected))

  test.each([
    '',
    'unknown',
    '_hidden',
    '192.0.2',
    '192.0.2.256',
    '192.0.2.7:8:9',
    '[2001:db8::1]443',
    '1',
    '[192.0.2.7',
    'a'.repeat(9_000),
  ])('%s is none', (text) => expect(normalizeAddress(text)).toBeUndefined())
})

test('a text of 15 kB is refused in linear time', () => {
  const began = performance.now()
  for (const text of ['1.1.1.', '1.1.1.1:', '[', '::1%']) {
    for (const digit of ['1', '.', ':', '%']) {
      for (let times = 0; times < 100; times++) {
        expect(normalizeAddress(`${text}${digit.repeat(15_000)}x`)).toBeUndefined()
      }
    }
  }
  // A pattern that goes back for each character takes more than 100 ms for one of these.
  expect(performance.now() - began).toBeLessThan(2_000)
})

describe('a network', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['1::2:3:4:5:6', '1:0:0:2::/64'],
  ])('of %s is %s', (address, expected) => expect(networkOf(address)).toBe(expected))

  test('is one for all addresses that a caller may take within its /64', () => {
    const callers = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2:3::']
    const networks = callers.map((address) =>
      createCallerAddresses([]).ofRequest(requestFrom(address)),
    )
    expect(new Set(networks)).toEqual(new Set(['2001:db8:1:2::/64']))
  })
})

describe('the caller', () => {
  const proxies = ['10.0.0.0/8', '192.0.2.1', '2001:db8:ffff::/48']
  const callerOf = createCallerAddresses(proxies).ofRequest

  test('is who opened the connection where no proxy is trusted, whatever it says', () => {
    expect(createCallerAddresses([]).ofRequest(requestFrom('10.0.0.1', '198.51.100.1'))).toBe(
      '10.0.0.1',
    )
  })

  test.each([
    ['no proxy speaks', '198.51.100.9', '203.0.113.5', '198.51.100.9'],
    ['a proxy names one', '10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['a mapped proxy names one', '::ffff:10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['an IPv6 proxy names one', '2001:db8:ffff::9', '203.0.113.5', '203.0.113.5'],
    ['a proxy names one with its port', '10.1.2.3', '203.0.113.5:55555', '203.0.113.5'],
    [
      'proxies stand behind each other',
      '10.1.2.3',
      '203.0.113.5, 192.0.2.1,10.9.9.9',
      '203.0.113.5',
    ],
    ['a stranger put others first', '10.1.2.3', '1.1.1.1, 10.0.0.7, 203.0.113.5', '203.0.113.5'],
    ['all are proxies', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['nothing is said', '10.1.2.3', undefined, '10.1.2.3'],
    ['an empty text is said', '10.1.2.3', '', '10.1.2.3'],
    ['only commas are said', '10.1.2.3', ' , ,', '10.1.2.3'],
    ['nonsense is said', '10.1.2.3', 'unknown', '10.1.2.3'],
    ['nonsense stands before a proxy', '10.1.2.3', '203.0.113.5, for=x, 192.0.2.1', '192.0.2.1'],
    ['an IPv6 caller is named', '10.1.2.3', '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
  ])('where %s', (_case, remoteAddress, forwarded, expected) => {
    expect(callerOf(requestFrom(remoteAddress, forwarded))).toBe(expected)
  })

  test('has a name of its own once its connection has ended', () => {
    expect(callerOf(requestFrom(undefined, '203.0.113.5'))).toBe('gone')
  })

  test('is found in the longest header that is taken', () => {
    const forwarded = `${'10.0.0.1,'.repeat(1_600)}10.0.0.2`
    expect(callerOf(requestFrom('10.1.2.3', forwarded))).toBe('10.0.0.1')
  })
})
