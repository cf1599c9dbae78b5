import { Gauge, type Registry } from '@prometheus-io/client'

/** Longer than a scrape should take; a store that does not answer by then is not ready. */
const PATIENCE_MS = 3_000

async function isReadyInTime(isReady: () => Promise<boolean>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => resolve(false), PATIENCE_MS)
  try {
    return await Promise.race([isReady(), late])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}

export function addReadiness(registers: Registry[], isReady: () => Promise<boolean>): void {
  new Gauge({
    name: 'plant_store_ready',
    help: '1 while /readyz would answer 200, else 0.',
    registers,
    async collect() {
      this.set(Number(await isReadyInTime(isReady)))
    },
  })
}
