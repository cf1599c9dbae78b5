import { styleText } from 'node:util'
import { printable } from './printable.ts'
import { withoutCredentials } from './without-credentials.ts'

type Style = Parameters<typeof styleText>[0]

const LEVELS: Record<string, Style> = { fatal: 'red', error: 'red', warn: 'yellow', info: 'green' }

/** Has colours where standard error shows them: on a terminal, unless NO_COLOR is set. */
function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr })
}

function clean(text: string): string {
  return withoutCredentials(printable(text))
}

const cleanLine = (text: string) => clean(text.replaceAll('\n', '\\n'))

/** An integer keeps every digit; the third argument is that of ECMAScript 2026. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }) {
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : context?.source
}

/** One word as it is, anything else as JSON. */
function formatField([name, value]: [string, unknown]): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value)
  return `${paint('dim', `${cleanLine(name)}=`)}${clean(isWord ? value : JSON.stringify(value))}`
}

/** `2026-11-22 04:05:06`, in the time zone of this machine. */
function formatTime(time: unknown): string {
  const date = new Date(String(time))
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 19).replace('T', ' ')
}

/** The stack of an error and those of its causes, on lines of their own. */
function formatError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { type, message, code, stack, cause } = error as Readonly<Record<string, unknown>>
  const text = String(stack ?? `${type}: ${message}`)
  const isSaid = code === undefined || text.includes(String(code))
  const own = isSaid ? text : `[${code}] ${text}`
  return cause === undefined ? own : `${own}\ncaused by: ${formatError(cause)}`
}

/**
 * A line of the log, given as JSON, for people: local time, level, message, the other fields, and an
 * error with its causes on indented lines below. Nothing in it controls the terminal, and credentials
 * are left out.
 */
export function formatForPeople(line: string): string {
  const { time, level, audit, msg = audit, err, ...others } = JSON.parse(line, keepDigits)
  const fields = audit === msg ? others : { audit, ...others }
  const levelText = paint(LEVELS[level] ?? 'dim', String(level).toUpperCase().padEnd(5))
  const head = [paint('dim', formatTime(time)), levelText, cleanLine(String(msg))].join(' ')
  const named = Object.entries(fields).filter(([, value]) => value !== undefined)
  const tail = named.map(formatField).join(' ')
  const below = err === undefined ? '' : `\n${clean(formatError(err)).replace(/^/gm, '  ')}`
  return `${head}${tail && `  ${tail}`}${below}\n`
}
