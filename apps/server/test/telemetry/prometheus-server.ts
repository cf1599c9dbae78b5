import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { needs } from '../../../../packages/client/runtimes/needs.ts'
import { findFreePort } from '../free-port.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** The folder for operators: the alerts, the dashboard, and the configuration of Prometheus. */
export const OPERATIONS = join(import.meta.dirname, '../../../../operations')

/** Debian's package prometheus; without it what needs it is skipped, and CI fails for that. */
export const needsPrometheus = needs(
  'prometheus',
  ['prometheus', 'promtool'].every((program) => spawnSync(program, ['--version']).status === 0),
)

/** Runs promtool and gives what it prints; throws what it complains of. */
export function runPromtool(args: readonly string[], input = ''): string {
  return execFileSync('promtool', args, { cwd: OPERATIONS, input, encoding: 'utf8' })
}

/** One series of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  /** Unix seconds, and the value as text. */
  readonly value: readonly [number, string]
}

export interface Rule {
  readonly query: string
  readonly state: string
}

export interface Prometheus {
  /** @throws with Prometheus's own words when the expression is not valid. */
  query(expression: string): Promise<Sample[]>
  /** Asks again until some series comes, and gives them. */
  waitFor(expression: string): Promise<Sample[]>
  rules(): Promise<Rule[]>
}

const WAIT_LIMIT_MS = 60_000
const PAUSE_MS = 100

/** The project's own configuration, but that it scrapes each second, and these targets. */
function configFor(addresses: readonly string[]): string {
  return readFileSync(join(OPERATIONS, 'prometheus.yml'), 'utf8')
    .replaceAll('15s', '1s')
    .replace('- alerts.yml', `- ${join(OPERATIONS, 'alerts.yml')}`)
    .replace(/- targets:[\s\S]*- 127\.0\.0\.1:3001/, `- targets: ${JSON.stringify(addresses)}`)
}

async function pauseUntil(deadline: number, what: string): Promise<void> {
  if (performance.now() > deadline) throw new Error(`Prometheus: ${what}`)
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
}

function createClient(url: string): Prometheus {
  async function ask<Data>(path: string): Promise<Data> {
    const body = (await (await fetch(`${url}/api/v1/${path}`)).json()) as Record<string, unknown>
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`)
    return body.data as Data
  }
  const query = async (expression: string) => {
    const path = `query?query=${encodeURIComponent(expression)}`
    return (await ask<{ result: Sample[] }>(path)).result
  }
  return {
    query,
    async waitFor(expression) {
      const deadline = performance.now() + WAIT_LIMIT_MS
      for (;;) {
        const samples = await query(expression)
        if (samples.length > 0) return samples
        await pauseUntil(deadline, `nothing for ${expression}`)
      }
    },
    async rules() {
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules')
      return groups.flatMap(({ rules }) => rules)
    },
  }
}

/** Starts Prometheus itself on servers, with the alerts of the project; it ends with the test. */
export async function startPrometheus(addresses: readonly string[]): Promise<Prometheus> {
  const folder = temporaryFolder()
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, configFor(addresses))
  const address = `127.0.0.1:${await findFreePort()}`
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
  ]
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.on('data', (chunk) => {
    printed += chunk
  })
  const ended = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const deadline = performance.now() + WAIT_LIMIT_MS
  while (!(await fetch(`http://${address}/-/ready`).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${printed}`)
    await pauseUntil(deadline, `not ready: ${printed}`)
  }
  return createClient(`http://${address}`)
}
