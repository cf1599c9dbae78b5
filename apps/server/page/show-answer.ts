import { contract, errorTable, headerNames } from '@plant-store/contract'
import { byId, element } from '../overview/element.ts'
import { type Explanation, explain } from './explain.ts'
import type { Lesson } from './lessons.ts'
import type { Answer, Request } from './send.ts'

const { method, path, contentType } = contract.createPlant

/** What the token is replaced by wherever the page shows it. */
export const MASK = '********'

/** A short time in ms, a longer one in s. */
function formatTime(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(1)} s`
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
}

function fact(name: string, value: Node | string): HTMLElement {
  return element('div', '', element('dt', '', name), element('dd', '', value))
}

function linkToError(error: keyof typeof errorTable): HTMLAnchorElement {
  const link = element('a', '', `${errorTable[error].code} ${error}`)
  link.href = `#${error}`
  return link
}

function factsOf({ status, ms, requestId, retryAfter }: Answer, { error }: Explanation) {
  return [
    fact('Status', String(status)),
    ...(error ? [fact('Error', linkToError(error))] : []),
    fact('Time', formatTime(ms)),
    ...(retryAfter ? [fact('Try again after', `${retryAfter} s`)] : []),
    ...(requestId ? [fact('Request id', element('code', '', requestId))] : []),
  ]
}

function describeRequest({ body, authorization }: Request, token: string): string {
  const shown = token ? authorization?.replace(token, MASK) : authorization
  const credential = shown === undefined ? [] : [`${headerNames.authorization}: ${shown}`]
  return [
    `${method} ${path}`,
    ...credential,
    `${headerNames.contentType}: ${contentType}`,
    '',
    body,
  ].join('\n')
}

function show(id: string, text: string | undefined): void {
  byId(id).textContent = text ?? ''
  byId(id).hidden = text === undefined
}

/** Shows that an answer is awaited. */
export function showWaiting(): void {
  byId('answer').setAttribute('aria-busy', 'true')
}

/** Shows a request, its answer, and what both mean. `token` is hidden wherever it was sent. */
export function showAnswer(
  request: Request,
  answer: Answer | undefined,
  { lesson, token }: { readonly lesson: Lesson | undefined; readonly token: string },
): Explanation {
  const explanation = explain(answer)
  const { verdict, words, error } = explanation
  const isTaught = [verdict, error].some((fact) => fact && lesson?.teachers.includes(fact))
  byId('answer').dataset.verdict = verdict
  byId('answer').removeAttribute('aria-busy')
  show('verdict', verdict)
  show('words', words)
  show('learned', isTaught ? lesson?.learned : undefined)
  byId('facts').replaceChildren(...(answer ? factsOf(answer, explanation) : []))
  byId('facts').hidden = answer === undefined
  show('reply', answer?.body)
  byId('sent-part').hidden = false
  show('sent', describeRequest(request, token))
  return explanation
}
