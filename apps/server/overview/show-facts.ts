import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { element } from './element.ts'
import { factsOf, type ShownFact } from './facts.ts'

function row({ title, text, metric }: ShownFact): HTMLElement {
  const names = metric === undefined ? [] : [element('code', '', metric)]
  return element('div', '', element('dt', '', title), element('dd', '', text, ...names))
}

/** Each fact with the metric that it comes from. */
export function showFacts(list: HTMLElement, reply: OverviewReply): void {
  list.replaceChildren(...factsOf(reply).map(row))
}
