import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runToEnd, startServerProcess } from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { serveNewDatabase } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { needsPromtool, OPERATIONS, rules, runPromtool } from './promtool.ts'
import { read, scrape } from './scraped-server.ts'

interface Panel {
  readonly targets?: readonly { readonly expr: string }[]
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  readFileSync(join(OPERATIONS, 'dashboard.json'), 'utf8'),
)

/** The expressions of the dashboard as Grafana would ask them. */
const shown = dashboard.panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) =>
    expr.replaceAll('$job', 'plant-store').replaceAll('$__rate_interval', '30s'),
  ),
)

describe('promtool', needsPromtool, () => {
  test('takes the alerts, the configuration and each expression of the dashboard', () => {
    expect(runPromtool(['check', 'rules', 'alerts.yml'])).toContain('SUCCESS')
    expect(runPromtool(['check', 'config', 'prometheus.yml'])).toContain('SUCCESS')
    const recorded = shown.map((expr, index) => ({ record: `shown:${index}`, expr }))
    const file = join(temporaryFolder(), 'shown.yml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'shown', rules: recorded }] }))
    expect(runPromtool(['check', 'rules', file])).toContain(`${shown.length} rules found`)
  })

  test('sees each alert fire when it should, and none of a server that is fine', () => {
    expect(runPromtool(['test', 'rules', 'alerts.test.yml'])).toContain('SUCCESS')
    const tested = readFileSync(join(OPERATIONS, 'alerts.test.yml'), 'utf8')
    for (const [, name] of rules.matchAll(/- alert: (\w+)/g)) {
      expect(tested).toMatch(new RegExp(`: ${name}\\n +eval_time: \\S+\\n +exp_alerts:`))
    }
  })

  test('finds no fault with the metrics of this project', async () => {
    const server = await startServerProcess()
    await server.client.createPlant({ id: 1, name: 'Fern' })
    const text = await read(server, 'metrics')
    // The library's own metrics of the process have names that promtool would rather see changed.
    const own = text.split('\n').filter((line) => /\bplant_store_/.test(line))
    expect(own.length).toBeGreaterThan(50)
    expect(runPromtool(['check', 'metrics'], `${own.join('\n')}\n`)).toBe('')
  })
})

describe('an alert or a panel on a metric that does not exist would show nothing', () => {
  const postgres = usePostgres()

  test('so servers on both engines, one of them as the unit starts it, have each', async () => {
    const folder = temporaryFolder()
    const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${folder}/plants.db` }
    const nodeFlags = unitNodeFlags(folder)
    await runToEnd({ folder, environment, args: ['migrate'] })
    const sqlite = await startServerProcess({ folder, nodeFlags, environment })
    const { server: shared } = await serveNewDatabase(postgres)
    for (const { client } of [sqlite, shared]) await client.createPlant({ id: 1, name: 'Fern' })
    expect((await runToEnd({ folder, environment, args: ['backup', 'b.db'] })).code).toBe(0)
    const series = [...(await scrape(sqlite)).keys(), ...(await scrape(shared)).keys()]
    const names = new Set(series.map((name) => name.replace(/\{.*/, '')))
    const asked = [rules.replaceAll(/#.*/g, ''), ...shown].join('\n')
    const wanted = new Set(asked.match(/\b(?:plant_store|nodejs|process)_\w+/g))
    expect(wanted.size).toBeGreaterThan(25)
    expect([...wanted].filter((name) => !names.has(name))).toEqual([])
  })
})
