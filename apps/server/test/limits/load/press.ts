import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, type CallerOptions, openCaller } from './caller.ts'

export interface PressOptions {
  readonly port: number
  /** The bytes of the request for an id. */
  readonly requestFor: (id: number) => string
  readonly connections: number
  /** Requests due in a second, whatever the replies; undefined to send the next one after each reply. */
  readonly perSecond?: number
  readonly seconds: number
  /** Ids count up from here. */
  readonly firstId: number
}

/** What came of the requests. */
export interface Pressed {
  sent: number
  /** Due while every connection still waited for a reply. */
  unsent: number
  readonly replies: Map<number, number>
  /** Of 200 answers only, in ms, in the order of arrival. */
  readonly latencies: number[]
  /** Of all other replies. */
  readonly refusalLatencies: number[]
  readonly acknowledged: number[]
  readonly refused: number[]
  /** Connections that ended too early. */
  lost: number
}

/** The latency that this share (0 to 1) of the replies did not exceed. */
export function percentile(latencies: readonly number[], share: number): number {
  const sorted = Float64Array.from(latencies).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** How often due requests are sent. */
const TURN_MS = 2

/** After this no reply is waited for any more. */
const PATIENCE_MS = 10_000

/** The bytes of a create of a plant of its own for each id, with a line of authorization and more. */
export function createRequests(
  port: number,
  linesFor: (id: number) => string,
): (id: number) => string {
  return (id) => {
    const body = `{"id":${id},"name":"Fern ${id}","tag":"indoor"}`
    return (
      `POST /plants HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${linesFor(id)}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
    )
  }
}

/** An IPv6 network of its own for each id. */
export function networkFor(id: number): string {
  return `2001:db8:${((id >> 16) & 0xffff).toString(16)}:${(id & 0xffff).toString(16)}::1`
}

function createPressed(): Pressed {
  return {
    sent: 0,
    unsent: 0,
    replies: new Map(),
    latencies: [],
    refusalLatencies: [],
    acknowledged: [],
    refused: [],
    lost: 0,
  }
}

function note(pressed: Pressed, id: number, status: number, latencyMs: number): void {
  pressed.replies.set(status, (pressed.replies.get(status) ?? 0) + 1)
  const isStored = status === 200
  ;(isStored ? pressed.latencies : pressed.refusalLatencies).push(latencyMs)
  ;(isStored ? pressed.acknowledged : pressed.refused).push(id)
}

/** Opens them in groups, so that none is refused because the queue is full. */
async function openCallers(count: number, options: CallerOptions): Promise<Caller[]> {
  const opened: Caller[] = []
  while (opened.length < count) {
    const some = Array.from({ length: Math.min(100, count - opened.length) }, () =>
      openCaller(options),
    )
    opened.push(...(await Promise.all(some)))
  }
  return opened
}

/** Calls `send` as often as is due, until the time is over. */
async function keepRate(perSecond: number, seconds: number, send: () => void): Promise<void> {
  const start = performance.now()
  for (let sent = 0; ; await sleep(TURN_MS)) {
    const elapsed = Math.min((performance.now() - start) / 1_000, seconds)
    for (; sent < elapsed * perSecond; sent++) send()
    if (elapsed === seconds) return
  }
}

/** Sends creates of new plants at a rate that does not depend on the replies, or as fast as they come. */
export async function press(options: PressOptions): Promise<Pressed> {
  const { port, requestFor, connections, perSecond, seconds } = options
  const pressed = createPressed()
  const free: Caller[] = []
  let nextId = options.firstId
  let isOver = false

  function send(caller: Caller): void {
    pressed.sent++
    const id = nextId++
    caller.send(requestFor(id), id)
  }

  function onReply(caller: Caller, status: number, latencyMs: number): void {
    note(pressed, caller.id, status, latencyMs)
    if (perSecond === undefined && !isOver) send(caller)
    else free.push(caller)
  }

  function onEnd(): void {
    if (!isOver) pressed.lost++
  }

  function sendOnFree(): void {
    const caller = free.shift()
    if (caller === undefined) pressed.unsent++
    else send(caller)
  }

  const opened = await openCallers(connections, { port, onReply, onEnd })
  if (perSecond === undefined) for (const caller of opened) send(caller)
  else free.push(...opened)
  await keepRate(perSecond ?? 0, seconds, sendOnFree)
  isOver = true
  const isAnswered = () => pressed.latencies.length + pressed.refused.length === pressed.sent
  const giveUpAt = performance.now() + PATIENCE_MS
  while (!isAnswered() && performance.now() < giveUpAt) await sleep(TURN_MS)
  for (const caller of opened) caller.destroy()
  return pressed
}
