import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { byId, element } from './element.ts'
import { clock, rate, seconds, span, words } from './format.ts'
import type { Hour } from './hour.ts'
import { findNotices } from './notices.ts'
import { linesOf } from './plots.ts'

/** What the top of the page says. */
interface State {
  readonly name: 'ready' | 'notice' | 'not-ready' | 'gone'
  readonly word: string
  readonly reason: string
  readonly notices: readonly string[]
}

function newestOf(hour: Hour, name: string, as: 'rate' | 'p99'): number | null {
  const line = { label: '', name, as }
  return linesOf(hour, { lines: [line] })[0]?.values.at(-1) ?? null
}

function describeLoad(hour: Hour): string {
  const answered = newestOf(hour, 'plant_store_creates_total', 'rate')
  if (answered === null) return 'Creates are taken. The first rates come within ten seconds.'
  if (answered === 0) return 'Creates are taken. None came in the last ten seconds.'
  const slowest = newestOf(hour, 'plant_store_request_duration_seconds', 'p99')
  const within = slowest === null ? '' : `; 99 of 100 plants within ${words(seconds, slowest)}`
  return `${rate(answered).number} replies a second${within}.`
}

/** Since when the samples say that the server is not ready; undefined where they do not know it. */
function notReadySince(hour: Hour): number | undefined {
  const values = hour.find('plant_store_ready', 'value')[0]?.values ?? []
  const last = values.lastIndexOf(1)
  return values.at(-1) === 0 ? hour.times[last + 1] : undefined
}

/** A reason that the server gives, which may be a sentence already. */
function asSentence(reason: string): string {
  const begin = reason.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
  return /[.!?]$/.test(begin) ? begin : `${begin}.`
}

function describeNotReady(hour: Hour, { at, notReady }: OverviewReply): string {
  const since = notReadySince(hour)
  const long = since === undefined ? '' : ` For ${span(at - since)}, since ${clock(since)}.`
  return `${asSentence(notReady ?? '')}${long} Creates are answered 503: nothing is stored, and callers try again.`
}

/** What a reply says; the reason of a server that is not ready comes first. */
export function stateOf(hour: Hour, reply: OverviewReply): State {
  const notices = findNotices(hour, reply)
  if (reply.notReady !== null) {
    const reason = describeNotReady(hour, reply)
    return { name: 'not-ready', word: 'Not ready', reason, notices }
  }
  const reason = describeLoad(hour)
  if (notices.length === 0) return { name: 'ready', word: 'Ready', reason, notices }
  return { name: 'notice', word: 'Ready, but look at this', reason, notices }
}

/** When the server does not answer; `last` is the last reply, and when it came by the clock here. */
export function goneState(
  why: string,
  last: { readonly reply: OverviewReply; readonly cameAt: number } | undefined,
): State {
  const old =
    last === undefined
      ? ''
      : ` Everything below is as it was at ${clock(last.reply.at)}, ${span(Date.now() - last.cameAt)} ago.`
  const reason = `${why}.${old} This page asks again every few seconds.`
  return { name: 'gone', word: 'No reply from the server', reason, notices: [] }
}

function setText(id: string, text: string): void {
  const place = byId(id)
  // Screen readers would say it again.
  if (place.textContent !== text) place.textContent = text
}

export function showState({ name, word, reason, notices }: State): void {
  document.documentElement.dataset.state = name
  document.title = `${word} – Plant Store`
  setText('state-word', word)
  setText('state-reason', reason)
  const list = byId('notices')
  list.hidden = notices.length === 0
  list.replaceChildren(...notices.map((notice) => element('li', '', notice)))
}
