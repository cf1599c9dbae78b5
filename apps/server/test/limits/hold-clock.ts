import { onTestFinished, vi } from 'vitest'

/** Stops the clock that rates are counted by for this test, so that nothing grows back in it. */
export function holdClock(): void {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => clock.mockRestore())
}
