import { isMainThread } from 'node:worker_threads'
import type { Usage } from './measurement.ts'

// Loaded first by every program that the benchmark starts: answers how much it has used.

function readUsage(): Usage {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  const { user, system } = process.threadCpuUsage()
  return {
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    mainCpuSeconds: (user + system) / 1e6,
    maxRssBytes: maxRSS * 1024,
    rssBytes: process.memoryUsage.rss(),
  }
}

if (isMainThread) {
  process.on('message', (message) => {
    if (message === 'usage') process.send?.(readUsage())
  })
  // A server that cannot start shall end by itself; a program that waits for orders says so.
  process.channel?.unref()
  // Also when the benchmark has died: nobody else would end this process.
  process.on('disconnect', () => process.exit())
}
