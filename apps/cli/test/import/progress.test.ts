import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { formatDuration, type ProgressState, startProgress } from '../../src/import/progress.ts'
import type { Terminal } from '../../src/terminal.ts'

const halfway: ProgressState = {
  fraction: 0.5,
  counts: { rejected: 12, stored: 57_210 },
  note: undefined,
}

function arrange(columns: number | undefined, read: () => ProgressState = () => halfway) {
  const written: string[] = []
  const progress = startProgress(
    {
      isTerminal: columns !== undefined,
      columns: columns ?? 80,
      draw: (text: string) => void written.push(text),
      err: (text: string) => void written.push(`${text}\n`),
    } as unknown as Terminal,
    read,
  )
  return { progress, written }
}

/** A run that stores 1,000 a second, a tenth of all. */
function growing(): () => ProgressState {
  const startedAt = performance.now()
  return () => {
    const seconds = (performance.now() - startedAt) / 1_000
    return { ...halfway, fraction: seconds / 10, counts: { rejected: 0, stored: seconds * 1_000 } }
  }
}

describe('progress', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }),
  )
  afterEach(() => void vi.useRealTimers())

  test('is a bar on a terminal, with percent, counts, rate and time left', () => {
    const { written } = arrange(100, growing())
    vi.advanceTimersByTime(7_500)
    expect(written.at(-1)).toBe(
      '\r\u001b[K[##################......] 75 %  0 rejected  7,500 stored  1,000/s  0:03 left',
    )
  })

  test.each([200, 80, 40, 20, 5, 1, 0])('never wraps where there are %i columns', (columns) => {
    const { written } = arrange(columns, growing())
    vi.advanceTimersByTime(7_500)
    const line = written.at(-1)?.replace('\r\u001b[K', '') ?? ''
    expect(line.length).toBeLessThanOrEqual(Math.max(columns - 1, 0))
    if (columns >= 20) expect(line).toMatch(/0:03 left$/)
  })

  test('says what is waited for instead of the rate', () => {
    const { written } = arrange(100, () => ({ ...halfway, note: 'no response for 0:04' }))
    vi.advanceTimersByTime(100)
    expect(written.at(-1)).toMatch(/57,210 stored {2}no response for 0:04$/)
  })

  test('is a plain line each 10 s elsewhere', () => {
    const { written, progress } = arrange(undefined)
    vi.advanceTimersByTime(9_999)
    expect(written).toEqual([])
    vi.advanceTimersByTime(1)
    progress.line('a row is rejected')
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual(['50 %, 12 rejected, 57,210 stored\n', 'a row is rejected\n'])
  })

  test('clears the bar before a line and at the end', () => {
    const { written, progress } = arrange(80)
    progress.line('one')
    progress.end()
    expect(written.join('')).toBe('\r\u001b[Kone\n\r\u001b[K')
  })

  test('counts minutes and hours', () => {
    expect([0, 64.2, 3_723].map(formatDuration)).toEqual(['0:00', '1:05', '1:02:03'])
  })
})
