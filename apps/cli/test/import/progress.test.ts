import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { formatDuration, startProgress } from '../../src/import/progress.ts'
import type { Terminal } from '../../src/terminal.ts'

const TEXT = '57,210 stored, 12 rejected, 1,000/s, 75 %, 0:03 left'

/** What a progress writes on a terminal, or to a stream where there are no columns. */
function arrange(columns?: number) {
  const written: string[] = []
  const terminal: Pick<Terminal, 'isTerminal' | 'columns' | 'draw' | 'err'> = {
    isTerminal: columns !== undefined,
    columns: columns ?? 80,
    draw: (text) => void written.push(text),
    err: (text) => void written.push(`${text}\n`),
  }
  return { progress: startProgress(terminal as Terminal, () => TEXT), written }
}

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test('is redrawn once a second on a terminal, and cleared before a line and at the end', () => {
    const { written, progress } = arrange(80)
    vi.advanceTimersByTime(2_999)
    expect(written).toEqual(Array(2).fill(`\r\u001b[K${TEXT}`))
    progress.line('one')
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(written.slice(2).join('')).toBe('\r\u001b[Kone\n\r\u001b[K')
  })

  test.each([200, 40, 5, 1, 0])('never wraps where there are %i columns', (columns) => {
    const { written } = arrange(columns)
    vi.advanceTimersByTime(1_000)
    expect(written).toEqual([`\r\u001b[K${TEXT.slice(0, Math.max(0, columns - 1))}`])
  })

  test('is a plain line each 10 s elsewhere', () => {
    const { written, progress } = arrange()
    vi.advanceTimersByTime(9_999)
    expect(written).toEqual([])
    vi.advanceTimersByTime(1)
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual([`${TEXT}\n`])
  })

  test('counts minutes and hours', () => {
    expect([0, 64.2, 3_723].map(formatDuration)).toEqual(['0:00', '1:05', '1:02:03'])
  })
})
