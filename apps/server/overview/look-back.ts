import type { OverviewReply } from '../src/telemetry/overview/reply.ts'
import { byId } from './element.ts'
import { clock, span } from './format.ts'
import { type Hour, shownWords, type Value } from './hour.ts'

const SVG = 'http://www.w3.org/2000/svg'

/** The strip of the last hour, and the slider below it. */
export interface LookBack {
  /** Shows when the server was ready, up to now. */
  draw(hour: Hour, reply: OverviewReply): void
  /** The index of the sample that is looked at; the newest one by default. */
  indexIn(hour: Hour): number
  /** Looks at a time in Unix ms; undefined is now. */
  look(time: number | undefined): void
}

/** Consecutive samples of one value as rectangles, each up to the next sample. */
function rectangles(hour: Hour, values: readonly Value[], at: number): SVGElement[] {
  const begin = at - hour.shownMs(at)
  const times = [...hour.times, hour.newest + 1]
  const made: SVGElement[] = []
  let start = 0
  for (let index = 1; index <= values.length; index++) {
    const value = values[start]
    if (index < values.length && values[index] === value) continue
    const [from = at, to = at] = [times[start], times[index]]
    start = index
    if (value === null) continue
    const rectangle = document.createElementNS(SVG, 'rect')
    rectangle.setAttribute('class', value === 1 ? 'is-ready' : 'is-not-ready')
    rectangle.setAttribute('x', String((from - begin) / 1_000))
    rectangle.setAttribute('width', String((to - from) / 1_000))
    rectangle.setAttribute('height', '10')
    made.push(rectangle)
  }
  return made
}

function describe(hour: Hour, values: readonly Value[], at: number): string {
  const span = shownWords(hour, at)
  const known = values.filter((value) => value !== null)
  const ready = known.filter((value) => value === 1).length
  if (ready === known.length) return `${span}: ready throughout`
  return `${span}: ready in ${ready} of ${known.length} samples`
}

/** Shows when the server was ready. */
function drawStrip(hour: Hour, { at, notReady }: OverviewReply): void {
  const sampled = hour.find('plant_store_ready', 'value')[0]?.values ?? []
  // The reply is one more sample, just behind the newest.
  const values = [...sampled, notReady === null ? 1 : 0]
  const strip = byId('readiness')
  strip.setAttribute('viewBox', `0 0 ${hour.shownMs(at) / 1_000} 10`)
  strip.setAttribute('aria-label', describe(hour, values, at))
  strip.replaceChildren(...rectangles(hour, values, at))
  byId('readiness-words').textContent = describe(hour, values, at)
}

/** `onChange` hears that another sample is looked at. */
export function createLookBack(onChange: () => void): LookBack {
  const slider = byId('moment') as HTMLInputElement
  let at = Date.now()
  let looked: number | undefined

  function showMoment(): void {
    const text =
      looked === undefined
        ? `Latest, ${clock(at)}`
        : `At ${clock(looked)}, ${span(at - looked)} ago`
    slider.setAttribute('aria-valuetext', text)
    byId('moment-words').textContent = text
    byId('look-back').classList.toggle('is-past', looked !== undefined)
  }

  function look(time: number | undefined): void {
    looked = time
    slider.value = String(looked === undefined ? 0 : (looked - at) / 1_000)
    showMoment()
    onChange()
  }

  slider.addEventListener('input', () => {
    const seconds = Number(slider.value)
    look(seconds === 0 ? undefined : at + seconds * 1_000)
  })
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') look(undefined)
  })

  return {
    draw(hour, reply) {
      at = reply.at
      drawStrip(hour, reply)
      slider.min = String(-Math.ceil(hour.shownMs(at) / 10_000) * 10)
      // The slider moves on with the time that is looked at.
      if (looked !== undefined) slider.value = String((looked - at) / 1_000)
      showMoment()
    },
    indexIn({ times }) {
      const newest = times.length - 1
      if (looked === undefined) return newest
      const after = times.findIndex((time) => time > (looked as number))
      return after === -1 ? newest : Math.max(0, after - 1)
    },
    look,
  }
}
