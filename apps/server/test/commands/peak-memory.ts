import { writeFileSync } from 'node:fs'

/** Loaded into a program before it runs: leaves its peak memory, in KiB, in the file that the environment names. */
process.on('exit', () => {
  const file = process.env.PEAK_MEMORY_FOLDER
  if (file) writeFileSync(`${file}/${process.pid}`, String(process.resourceUsage().maxRSS))
})
