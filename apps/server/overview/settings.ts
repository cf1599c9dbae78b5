import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { element } from './element.ts'

function heading(title: string): HTMLElement {
  const cell = element('th', '', title)
  cell.scope = 'col'
  return cell
}

/** The settings that differ from their defaults, as a table. */
export function showSettings(place: HTMLElement, { settings }: OverviewReply): void {
  if (settings.length === 0) {
    place.replaceChildren(element('p', '', 'None: every setting has its default.'))
    return
  }
  const rows = settings.map(({ name, text, source }) =>
    element(
      'tr',
      '',
      element('td', '', element('code', '', name)),
      element('td', '', element('code', '', text)),
      element('td', '', source === name ? 'the environment' : source),
    ),
  )
  const head = element('tr', '', ...['Setting', 'Value', 'Set by'].map(heading))
  place.replaceChildren(
    element('table', '', element('thead', '', head), element('tbody', '', ...rows)),
  )
}
