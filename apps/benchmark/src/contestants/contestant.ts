import type { Listening, Usage } from '../measurement.ts'

/** A contestant that listens. */
export interface Running extends Listening {
  close(): Promise<void>
}

function usage(): Usage {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  return { cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, maxRssBytes: maxRSS * 1024 }
}

/** Starts a contestant in this process and obeys the benchmark: `usage`, `stop`. */
export async function serveContestant(start: () => Promise<Running>): Promise<void> {
  const { port, token, close } = await start()
  process.on('message', async (order) => {
    if (order === 'usage') process.send?.(usage())
    if (order !== 'stop') return
    await close()
    process.disconnect()
  })
  // Also when the benchmark has died: nobody else would end this process.
  process.on('disconnect', () => process.exit())
  process.send?.({ port, token } satisfies Listening)
}
