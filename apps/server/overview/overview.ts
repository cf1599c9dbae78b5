import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { Card } from './card.ts'
import { byId, element } from './element.ts'
import { Hour } from './hour.ts'
import { createLookBack } from './look-back.ts'
import { PLOTS } from './plots.ts'
import { showSettings } from './settings.ts'
import { showFacts } from './show-facts.ts'
import { goneState, showState, stateOf } from './state.ts'

const ASK_EVERY_MS = 5_000

/** A server that is not there is asked more often, so that its return shows soon. */
const ASK_AGAIN_MS = 2_000

/** Longer than the server waits for its database. */
const REPLY_LIMIT_MS = 8_000

const hour = new Hour()
const cards: Card[] = []
const lookBack = createLookBack(showMoment)
let last: { readonly reply: OverviewReply; readonly cameAt: number } | undefined

function addSection(title: string, plots: (typeof PLOTS)[string]): () => void {
  const made = plots.map((plot) => new Card(plot, lookBack.look))
  cards.push(...made)
  const grid = element('div', 'grid', ...made.map((card) => card.element))
  const section = element('section', '', element('h2', '', title), grid)
  byId('plots').append(section)
  return () => {
    section.hidden = made.every((card) => card.element.hidden)
  }
}

const hideEmptySections = Object.entries(PLOTS).map(([title, plots]) => addSection(title, plots))

function showMoment(): void {
  const index = lookBack.indexIn(hour)
  for (const card of cards) card.point(index, index === hour.times.length - 1)
}

function show(reply: OverviewReply): void {
  hour.add(reply)
  byId('version').textContent = ` ${reply.version}`
  showState(stateOf(hour, reply))
  lookBack.draw(hour, reply)
  for (const card of cards) card.draw(hour, reply.at)
  for (const hide of hideEmptySections) hide()
  showMoment()
  showFacts(byId('facts'), reply)
  showSettings(byId('settings'), reply)
}

async function ask(): Promise<OverviewReply> {
  const response = await fetch(`overview.json?since=${hour.newest}`, {
    cache: 'no-store',
    signal: AbortSignal.timeout(REPLY_LIMIT_MS),
  })
  if (!response.ok) throw new Error(`It answers ${response.status}`)
  return response.json()
}

function describeFailure(error: unknown): string {
  if (error instanceof DOMException) return `It has not answered for ${REPLY_LIMIT_MS / 1_000} s`
  return error instanceof TypeError ? 'It cannot be reached' : String((error as Error).message)
}

async function keepAsking(): Promise<void> {
  let delay = ASK_EVERY_MS
  if (!document.hidden) {
    try {
      const reply = await ask()
      last = { reply, cameAt: Date.now() }
      show(reply)
    } catch (error) {
      showState(goneState(describeFailure(error), last))
      delay = ASK_AGAIN_MS
    }
  }
  setTimeout(keepAsking, delay)
}

matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  for (const card of cards) card.recolour()
})
void keepAsking()
