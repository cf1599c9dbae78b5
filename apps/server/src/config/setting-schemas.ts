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

/** A host and a port to listen on. */
export const address = z.string().transform((text, context): Address => {
  const parsed = parseAddress(text)
  if (parsed !== undefined) return parsed
  context.addIssue('must be a host and a port, such as 127.0.0.1:3000')
  return z.NEVER
})

/** A whole number within bounds. */
export function wholeNumber(least: number, most: number) {
  const rule = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d+$/, rule)
    .transform(Number)
    .refine((n) => n >= least && n <= most, rule)
}

function isBaseAddress(text: string): boolean {
  return /^https?:\/\/[^\s?#@]*[^\s?#@/]$/.test(text) && URL.canParse(text)
}

/** The address before paths such as /plants; `auto` is undefined. */
export const baseAddressOrAuto = z
  .string()
  .refine((text) => text === 'auto' || isBaseAddress(text), {
    error: 'must be http:// or https:// and a host, with no user and no slash at its end, or auto',
  })
  .transform((text) => (text === 'auto' ? undefined : text))

/** Milliseconds, up to an hour. */
export const duration = wholeNumber(100, 3_600_000)

/** A whole number within bounds; the word is undefined. */
export function wholeNumberOr(word: 'auto' | 'off', least: number, most: number) {
  const number = wholeNumber(least, most)
  return z
    .string()
    .refine((text) => text === word || number.safeParse(text).success, {
      error: `must be a whole number from ${least} to ${most}, or ${word}`,
    })
    .transform((text) => (text === word ? undefined : Number(text)))
}

/** Items separated by commas, or the word for an empty list. */
export function listOr(none: string, isItem: (item: string) => boolean, rule: string) {
  return z.string().transform((text, context): readonly string[] => {
    const items = text === none ? [] : text.split(',').map((item) => item.trim())
    const wrong = items.find((item) => !isItem(item))
    if (wrong === undefined) return items
    context.addIssue(`${JSON.stringify(wrong)} ${rule}`)
    return z.NEVER
  })
}

/** An origin as browsers write it: a scheme, a host in lower case, and a port that is not the scheme's own. */
export function isOrigin(text: string): boolean {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^\s/?#@,*\\]+$/.test(text)) return false
  return !/^https?:/.test(text) || (URL.canParse(text) && new URL(text).origin === text)
}

/** A name of letters, digits, dots and hyphens (RFC 1123 §2.1, and `_`), or an IP address. */
export function isHostName(text: string): boolean {
  return /^[a-z\d_](?:[\w.-]{0,251}[a-z\d])?$/i.test(text) || isIP(text) !== 0
}

const NONE = 'none'

function unlessNone(text: string): string | undefined {
  return text === NONE ? undefined : text
}

/** Whoever can change keys on their way can make tokens, so they come over TLS or from this machine. */
function isJwksUrl(text: string): boolean {
  if (text === NONE) return true
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(host))
}

/** The URL of a key set; `none` is undefined. */
export const jwksUrl = z
  .string()
  .refine(isJwksUrl, 'must be an https:// address, or an http:// one on this machine, or none')
  .transform(unlessNone)

/** A text that is not empty; `none` is undefined. */
export const textOrNone = z.string().min(1, 'must not be empty').transform(unlessNone)

/** The network and length of `10.0.0.0/8`, or of a single address; undefined for anything else. */
export function parseNetwork(text: string): { network: string; length: number } | undefined {
  const [, address = '', digits] = /^([^/]+?)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = address.includes('%') ? 0 : isIP(address)
  const widest = version === 4 ? 32 : 128
  const length = digits === undefined ? widest : Number(digits)
  return version === 0 || length > widest ? undefined : { network: address, length }
}
