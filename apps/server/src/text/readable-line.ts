import { styleText } from 'node:util'
import { printable } from './printable.ts'
import { withoutCredentials } from './without-credentials.ts'

/** How lines of the log are written; `auto` is text on a terminal and JSON elsewhere. */
export const logFormats = ['auto', 'text', 'json'] as const
export type LogFormat = (typeof logFormats)[number]

/** Whether standard error gets lines for people. */
export function isForPeople(format: LogFormat, isTerminal: boolean): boolean {
  return format === 'text' || (format === 'auto' && isTerminal)
}

type Style = Parameters<typeof styleText>[0]

const LEVEL_STYLES: Readonly<Record<string, Style>> = {
  fatal: ['bold', 'red'],
  error: 'red',
  warn: 'yellow',
  info: 'green',
}

/** Has colours where standard error shows them: on a terminal, unless NO_COLOR is set. */
function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stderr })
}

function clean(text: string): string {
  return withoutCredentials(printable(text))
}

function cleanLine(text: string): string {
  return clean(text.replaceAll('\n', '\\n'))
}

/** One word as it is, anything else as JSON. */
function show(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value)
  return clean(isWord ? value : JSON.stringify(value))
}

/** An integer keeps every digit; the third argument is that of ECMAScript 2026. */
function keepDigits(_name: string, value: unknown, context?: { readonly source?: string }) {
  return Number.isSafeInteger(value) || !Number.isInteger(value) ? value : context?.source
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

function formatField([name, value]: [string, unknown]): string {
  return `${paint('dim', `${cleanLine(name)}=`)}${show(value)}`
}

/**
 * A line of the log, given as JSON, for people: local time, level, message, what was asked and
 * answered, the other fields, and an error with its causes on indented lines below. Nothing in it
 * controls the terminal, and credentials are left out.
 */
export function formatForPeople(line: string): string {
  const { time, level, msg, audit, err, ...fields } = JSON.parse(line, keepDigits)
  const { method, path, status, code, error, outcome, ...others } = fields
  const request = [method, path, status, error ?? outcome].filter((part) => part !== undefined)
  const more = {
    ...(msg === undefined ? {} : { audit }),
    // The name of an error says the same.
    ...(error === undefined ? { code } : {}),
    ...others,
  }
  const named = Object.entries(more).filter(([, value]) => value !== undefined)
  const levelText = String(level).toUpperCase().padEnd(5)
  const head = [
    paint('dim', formatTime(time)),
    paint(LEVEL_STYLES[level] ?? 'dim', levelText),
    cleanLine(String(msg ?? audit)),
  ].join(' ')
  const tail = [...request.map(show), ...named.map(formatField)].join(' ')
  const below = err === undefined ? '' : `\n${clean(formatError(err)).replace(/^/gm, '  ')}`
  return `${head}${tail && `  ${tail}`}${below}\n`
}
