import type { CreatePlantsProgress } from '@plant-store/client'

/** 1,234,567 */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}

/** 4:05, or 1:02:03 */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds))
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => String(part).padStart(index === 0 ? 1 : 2, '0')).join(':')
}

/** What keeps an import waiting; undefined while it runs. */
export function describeState(state: CreatePlantsProgress['state']): string | undefined {
  switch (state.type) {
    case 'running':
      return undefined
    case 'waiting':
      return `the server asks to wait ${Math.max(1, Math.ceil(state.ms / 1_000))} s`
    case 'outage':
      return `no connection, trying again for ${formatDuration(state.remainingMs / 1_000)}`
  }
}
