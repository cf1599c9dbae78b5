import { isIP } from 'node:net'
import * as z from 'zod'
import { isLoopback } from '../text/loopback.ts'

export interface Address {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
}

/** `host:port`, an IPv6 host in brackets. */
const ADDRESS = /^(?:\[([\da-f:.]+)\]|([^:[\]/\s]+)):(\d{1,5})$/i

function parseAddress(text: string): Address | undefined {
  const [, ipv6, name, digits] = ADDRESS.exec(text) ?? []
  const host = ipv6 ?? name
  const port = Number(digits)
  return host !== undefined && port <= 65_535 ? { host, port } : undefined
}

/** What `parse` makes of a text; undefined breaks the rule. */
function parsed<Value>(rule: string, parse: (text: string) => Value | undefined) {
  return z.string().transform((text, context): Value => {
    const value = parse(text)
    if (value !== undefined) return value
    context.addIssue(rule)
    return z.NEVER
  })
}

/** The same, and undefined from a word. */
function parsedOr<Value>(word: string, rule: string, parse: (text: string) => Value | undefined) {
  const nothing = z.literal(word).transform(() => undefined)
  return z.union([nothing, parsed(rule, parse)], { error: `${rule}, or ${word}` })
}

const AN_ADDRESS = 'must be a host and a port, such as 127.0.0.1:3000'

/** A host and a port to listen on. */
export const address = parsed(AN_ADDRESS, parseAddress)
export const addressOrOff = parsedOr('off', AN_ADDRESS, parseAddress)

/** One of two words; the first is true. */
export function yesOr(yes: string, no: string) {
  return z.enum([yes, no], { error: `must be ${yes} or ${no}` }).transform((text) => text === yes)
}

export const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
  error: 'must be fatal, error, warn, info, debug, trace or silent',
})

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number) {
  return parsed(`must be a whole number from ${least} to ${most}`, (text) =>
    /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
  )
}

/** Milliseconds, up to an hour. */
export const duration = wholeNumber(100, 3_600_000)

export const count = wholeNumber(1, 1_000_000)

export const countOrOff = z.union([z.literal('off').transform(() => undefined), count], {
  error: 'must be a whole number from 1 to 1000000, or off',
})

function isBaseAddress(text: string): boolean {
  return /^https?:\/\/[^\s?#@]*[^\s?#@/]$/.test(text) && URL.canParse(text)
}

/** The address before paths such as /plants. */
export const baseAddressOrAuto = parsedOr(
  'auto',
  'must be http:// or https:// and a host, with no user and no slash at its end',
  (text) => (isBaseAddress(text) ? text : undefined),
)

/** Items separated by commas, or the word for an empty list. */
function listOr(none: string, isItem: (item: string) => boolean, rule: string) {
  return z.string().transform((text, context): readonly string[] => {
    const items = text === none ? [] : text.split(',').map((item) => item.trim())
    const wrong = items.find((item) => !isItem(item))
    if (wrong === undefined) return items
    context.addIssue(`${JSON.stringify(wrong)} ${rule}`)
    return z.NEVER
  })
}

/** An origin as browsers write it: a scheme, a host in lower case, and a port that is not the scheme's own. */
function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*\\]+$/.test(text)) return false
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text)
}

export const origins = listOr(
  'off',
  isOrigin,
  'must be an origin as browsers send it, such as https://plants.example; there is no *',
)

/** Whoever can change keys on their way can make tokens, so they come over TLS or from this machine. */
function isJwksUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(host))
}

/** The URL of a key set. */
export const jwksUrl = parsedOr(
  'none',
  'must be an https:// address, or an http:// one on this machine',
  (text) => (isJwksUrl(text) ? text : undefined),
)

export const textOrNone = parsedOr('none', 'must not be empty', (text) => text || undefined)

/** The network and length of `10.0.0.0/8`, or of a single address; undefined for anything else. */
export function parseNetwork(text: string): { network: string; length: number } | undefined {
  const [, address = '', digits] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = address.includes('%') ? 0 : isIP(address)
  const widest = version === 4 ? 32 : 128
  const length = digits === undefined ? widest : Number(digits)
  return version === 0 || length > widest ? undefined : { network: address, length }
}

export const networks = listOr(
  'none',
  (item) => parseNetwork(item) !== undefined,
  'must be an address or a network, such as 10.0.0.5 or 10.0.0.0/8',
)
