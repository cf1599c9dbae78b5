import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { serveNewDatabase } from '../postgres/served-database.ts'
import { usePostgres } from '../postgres/use-postgres.ts'
import { unitNodeFlags } from '../process/node-flags.ts'
import { runToEnd, type ServerProcess, startServerProcess } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import {
  needsPrometheus,
  OPERATIONS,
  type Prometheus,
  runPromtool,
  startPrometheus,
} from './prometheus-server.ts'

// Processes and disks of a machine that is busy with other tests take their time.
vi.setConfig({ testTimeout: 60_000 })

interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}

const dashboard: { readonly panels: readonly Panel[] } = JSON.parse(
  readFileSync(join(OPERATIONS, 'dashboard.json'), 'utf8'),
)

/** The expressions of the dashboard as Grafana would ask them, with the panels that show them. */
const SHOWN = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }): [string, string] => [
    title,
    expr.replaceAll('$job', 'plant-store').replaceAll('$__rate_interval', '30s'),
  ]),
)

const ALERTS = [
  ...readFileSync(join(OPERATIONS, 'alerts.yml'), 'utf8').matchAll(/- alert: (\w+)/g),
].map(([, name = '']) => name)

describe('promtool', needsPrometheus, () => {
  test('takes the alerts and the configuration', () => {
    expect(runPromtool(['check', 'rules', 'alerts.yml'])).toContain('SUCCESS')
    expect(runPromtool(['check', 'config', 'prometheus.yml'])).toContain('SUCCESS')
  })

  test('sees each alert fire when it should, and none of a server that is fine', () => {
    expect(runPromtool(['test', 'rules', 'alerts.test.yml'])).toContain('SUCCESS')
    const tested = readFileSync(join(OPERATIONS, 'alerts.test.yml'), 'utf8')
    for (const name of ALERTS)
      expect(tested).toMatch(new RegExp(`: ${name}\\n +eval_time: \\S+\\n +exp_alerts:`))
  })

  test('finds no fault with the metrics of this project', async () => {
    const { client, operationsUrl } = await startServerProcess()
    await client.createPlant({ id: 1, name: 'Fern' })
    const text = await (await fetch(`${operationsUrl}/metrics`)).text()
    // The library's own metrics of the process have names that promtool would rather see changed.
    const own = text.split('\n').filter((line) => /\bplant_store_/.test(line))
    expect(own.length).toBeGreaterThan(50)
    expect(runPromtool(['check', 'metrics'], `${own.join('\n')}\n`)).toBe('')
  })
})

describe('a Prometheus that scrapes real servers', { ...needsPrometheus, timeout: 120_000 }, () => {
  const postgres = usePostgres()

  async function create(server: ServerProcess, ids: readonly number[]): Promise<void> {
    await Promise.all(ids.map((id) => server.client.createPlant({ id, name: 'Fern' })))
  }

  const hostOf = ({ operationsUrl }: ServerProcess) => new URL(operationsUrl).host

  /** One server on each engine, one of them as the unit starts it, with creates, a repeat and a refusal between two scrapes. */
  async function startAll() {
    const folder = temporaryFolder()
    const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${folder}/plants.db` }
    const sqlite = await startServerProcess({
      folder,
      nodeFlags: unitNodeFlags(folder),
      environment,
    })
    const { server: shared } = await serveNewDatabase(postgres)
    const backup = await runToEnd({ folder, environment, args: ['backup', 'backup.db'] })
    expect(backup.code).toBe(0)
    const prometheus = await startPrometheus([hostOf(sqlite), hostOf(shared)])
    await prometheus.waitFor('sum(up{job="plant-store"}) == 2')
    for (const server of [sqlite, shared]) {
      await create(server, [1, 2, 3, 4, 5])
      await create(server, [5])
      await server.client.rest.createPlant({ body: { id: 1, name: 'Moss' } })
    }
    await prometheus.waitFor('sum(plant_store_creates_total{outcome="id_taken"}) == 2')
    return { sqlite, shared, prometheus }
  }

  async function expectEveryExpressionToHold(prometheus: Prometheus): Promise<void> {
    const rules = await prometheus.rules()
    expect(rules).toHaveLength(ALERTS.length)
    expect(rules.filter(({ state }) => state === 'firing')).toEqual([])
    for (const { query } of rules) await prometheus.query(query)
    // A rate is there once two scrapes have seen its series.
    for (const [, expression] of SHOWN) await prometheus.waitFor(expression)
    // An alert on a metric that does not exist would never fire.
    const asked = [...rules.map(({ query }) => query), ...SHOWN.map(([, shown]) => shown)].join()
    for (const [name] of asked.matchAll(/\b(?:plant_store|nodejs|process)_\w+/g)) {
      await prometheus.waitFor(name)
    }
  }

  test('sees what they did, answers every question of the alerts and the dashboard, and shows which server is not ready and which is gone', async () => {
    const { sqlite, shared, prometheus } = await startAll()
    for (const [expression, value] of [
      ['sum(plant_store_creates_total{outcome="created"})', 10],
      ['sum(plant_store_creates_total{outcome="already_there"})', 2],
      ['sum(plant_store_commit_plants_sum)', 14],
      ['min(plant_store_ready)', 1],
      // It grows at once to 4 MB, unless a create has the file just then; then commit by commit.
      ['count(0 < plant_store_sqlite_log_bytes < 5e6)', 1],
      ['max(plant_store_postgres_pool_connections_limit)', 6],
      // The alert on file descriptors, which has a value under the permission model as well.
      ['count(0 < process_open_fds / process_max_fds < 0.8)', 2],
      ['count(process_resident_memory_bytes > 30e6)', 2],
    ] as const) {
      const [sample] = await prometheus.query(expression)
      expect(Number(sample?.value[1]), expression).toBe(value)
    }
    await expectEveryExpressionToHold(prometheus)

    postgres.kill()
    const [notReady] = await prometheus.waitFor('ALERTS{alertname="PlantStoreNotReady"}')
    expect(notReady?.metric).toMatchObject({ instance: hostOf(shared), alertstate: 'pending' })
    sqlite.kill('SIGKILL')
    const [down] = await prometheus.waitFor('ALERTS{alertname="PlantStoreDown"}')
    expect(down?.metric).toMatchObject({ instance: hostOf(sqlite), alertstate: 'pending' })
    await postgres.start()
    await prometheus.waitFor('plant_store_ready == 1')
  })
})
