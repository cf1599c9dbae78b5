import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ProgressState, type ProgressTarget, startProgress } from '../src/progress.ts'

const halfway: ProgressState = {
  fraction: 0.5,
  counts: { stored: 57_210, rejected: 12 },
  perSecond: 4_310.4,
}

function arrange(target: Partial<ProgressTarget>, state: () => ProgressState = () => halfway) {
  const written: string[] = []
  const progress = startProgress(
    { write: (text) => void written.push(text), isInteractive: true, ...target },
    state,
  )
  return { progress, written }
}

describe('progress', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }),
  )
  afterEach(() => void vi.useRealTimers())

  test('is a bar on a terminal, with percent, counts, rate and time left', () => {
    let fraction = 0
    const { written } = arrange({ columns: () => 100 }, () => ({ ...halfway, fraction }))
    vi.advanceTimersByTime(9_900)
    fraction = 0.75
    vi.advanceTimersByTime(100)
    expect(written.at(-1)).toBe(
      '\r\u001b[K[##################......]  75 %  57,210 stored  12 rejected  4,310/s  0:03 left',
    )
  })

  test.each([200, 80, 60, 40, 20, 5, 1, 0])('never wraps where there are %i columns', (columns) => {
    const { written } = arrange({ columns: () => columns })
    vi.advanceTimersByTime(100)
    const line = written.at(-1)?.replace('\r\u001b[K', '') ?? ''
    expect(line.length).toBeLessThanOrEqual(Math.max(columns - 1, 1))
    if (columns >= 10) expect(line).toMatch(/50 %/)
  })

  test.each([
    [53, ' 50 %  57,210 stored  12 rejected  4,310/s  0:10 left'],
    [40, ' 50 %  57,210 stored  4,310/s  0:10 left'],
    [30, ' 50 %  4,310/s  0:10 left'],
  ])('keeps rate and time left where there is room for %i characters', (room, line) => {
    let fraction = 0
    const { written } = arrange({ columns: () => room + 1 }, () => ({ ...halfway, fraction }))
    fraction = 0.5
    vi.advanceTimersByTime(10_000)
    expect(written.at(-1)?.replace('\r\u001b[K', '')).toBe(line)
  })

  test('says what is waited for instead of the rate, and lets no text control the terminal', () => {
    const { written } = arrange({}, () => ({
      ...halfway,
      note: 'the server asks to wait 3 s\u001b[2J',
    }))
    vi.advanceTimersByTime(100)
    expect(written.at(-1)).toContain('12 rejected  the server asks to wait 3 s\\u001b[2J')
    expect(written.at(-1)).not.toContain('/s')
  })

  test('is a plain line each 10 s elsewhere', () => {
    const { written, progress } = arrange({ isInteractive: false })
    vi.advanceTimersByTime(9_999)
    expect(written).toEqual([])
    vi.advanceTimersByTime(1)
    progress.line('a row is rejected')
    progress.end()
    vi.advanceTimersByTime(60_000)
    expect(written).toEqual(['50 %, 57,210 stored, 12 rejected, 4,310/s\n', 'a row is rejected\n'])
  })

  test('is an object of JSON each second when asked', () => {
    const { written } = arrange({ mode: 'json' })
    vi.advanceTimersByTime(2_000)
    expect(written.map((line) => JSON.parse(line))).toEqual([halfway, halfway])
  })

  test('is nothing but lines when asked', () => {
    const { written, progress } = arrange({ mode: 'never' })
    vi.advanceTimersByTime(60_000)
    progress.line('one')
    progress.end()
    expect(written).toEqual(['one\n'])
  })

  test('clears the bar before a line and at the end', () => {
    const { written, progress } = arrange({})
    progress.line('one')
    progress.end()
    expect(written.join('')).toBe('\r\u001b[Kone\n\r\u001b[K')
  })
})
