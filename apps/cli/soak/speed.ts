import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { serveStore } from './served-store.ts'

/** Compares, in turns on one server, an import with createPlants of plants in memory. */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    /** Only the import, once. */
    alone: { type: 'boolean', default: false },
  },
})

const rows = Number(values.rows)
const PROGRAM = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const CLIENT = new URL('../../../packages/client/dist/index.js', import.meta.url).href

const folder = mkdtempSync(join(tmpdir(), 'plant-store-speed-'))
const store = await serveStore(folder)
const env = {
  PLANT_STORE_BASE_URL: store.url,
  PLANT_STORE_TOKEN: store.token,
}
let nextId = 0

interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly peakMiB: number
}

function readPeak(pid: number): number {
  try {
    return (
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024
    )
  } catch {
    return 0
  }
}

async function measure(args: readonly string[]): Promise<Cost> {
  // A shell knows what time its child took.
  const script = 'TIMEFORMAT="%R %U %S"; time "$@" 2>/dev/null'
  const child = spawn('/bin/bash', ['-c', script, 'bash', process.execPath, ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let peakMiB = 0
  const timer = setInterval(() => {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
    for (const pid of children.trim().split(' ')) peakMiB = Math.max(peakMiB, readPeak(Number(pid)))
  }, 100)
  const [[code], times] = await Promise.all([once(child, 'exit'), text(child.stderr)])
  clearInterval(timer)
  if (code !== 0) throw new Error(`exit code ${code}`)
  const [seconds = 0, user = 0, system = 0] = times.trim().split(' ').map(Number)
  return { seconds, cpuSeconds: user + system, peakMiB }
}

function measureImport(): Promise<Cost> {
  const file = join(folder, `plants-${nextId}.csv`)
  const lines = Array.from({ length: rows }, () => `${nextId},Fern ${nextId++}\n`)
  writeFileSync(file, `id,name\n${lines.join('')}`)
  return measure([PROGRAM, 'import', file])
}

function measureMemory(): Promise<Cost> {
  const from = nextId
  nextId += rows
  const program = `
    import { createPlants, createPlantStoreClient } from '${CLIENT}'
    const plants = Array.from({ length: ${rows} }, (_, row) => ({ id: ${from} + row, name: 'Fern ' + (${from} + row) }))
    for await (const result of createPlants(createPlantStoreClient(), plants)) if (!result.ok) throw result.error`
  return measure(['--input-type=module', '-e', program])
}

const show = ({ seconds, cpuSeconds, peakMiB }: Cost) =>
  `${Math.round(rows / seconds)}/s, ${((cpuSeconds * 1e6) / rows).toFixed(0)} µs of CPU a row, ${peakMiB.toFixed(0)} MiB`

const median = (numbers: readonly number[]) =>
  numbers.toSorted((one, two) => one - two)[Math.floor(numbers.length / 2)] ?? 0

try {
  if (values.alone) console.log(show(await measureImport()))
  else {
    const ratios: { rate: number; cpu: number }[] = []
    for (let round = 0; round < Number(values.rounds); round++) {
      const memory = await measureMemory()
      const imported = await measureImport()
      console.log(`createPlants ${show(memory)}; import ${show(imported)}`)
      ratios.push({
        rate: memory.seconds / imported.seconds,
        cpu: memory.cpuSeconds / imported.cpuSeconds,
      })
    }
    const [rate, cpu] = (['rate', 'cpu'] as const).map((of) => median(ratios.map((all) => all[of])))
    console.log(`import reaches ${rate?.toFixed(2)} of the rate, and ${cpu?.toFixed(2)} by CPU`)
  }
} finally {
  await store.kill()
  rmSync(folder, { recursive: true, force: true })
}
