import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findFreePort } from '../../../../test/free-port.ts'
import {
  plantText,
  post,
  runToEnd,
  type ServerProcess,
  startServerProcess,
} from '../../../../test/server-process.ts'
import { temporaryFolder } from '../../../../test/temporary-folder.ts'
import { good, JWT_RULES } from '../auth/jwt-service.ts'
import { runOn } from '../commands/program.ts'
import { prepareDatabase, serve } from '../postgres/served-database.ts'
import { startPair } from '../postgres/standby.ts'
import { mountSmallBlocks, needsSmallBlocks } from '../process/small-disk.ts'
import { needsPromtool, OPERATIONS, rules, runPromtool } from './promtool.ts'
import { scrape, startScrapedServer } from './scraped-server.ts'

/** The metrics that the rules ask for. */
const ASKED = new Set(['up', ...(rules.match(/\b(?:plant_store|process_start_time)_\w+/g) ?? [])])

/** What servers with their default settings expose, each scrape of which is a minute of Prometheus. */
class Recording {
  readonly #begun = Date.now() / 1_000
  readonly #scrapes: Map<string, number>[] = []
  /** For how many minutes nothing has changed since. */
  #waited = 0

  async scrape(server: ServerProcess, times: number, act?: () => unknown) {
    for (let time = 0; time < times; time++) {
      await act?.()
      const samples = await scrape(server).catch(() => new Map<string, number>())
      this.#scrapes.push(samples.set('up', samples.size > 0 ? 1 : 0))
    }
  }

  wait(minutes: number) {
    this.#waited += minutes
  }

  /** promtool begins at 0. */
  #toText(name: string, value: number): string {
    return String(/timestamp|start_time/.test(name) && value > 0 ? value - this.#begun : value)
  }

  #seriesOf(name: string) {
    const [, metric = '', labels = ''] = /^(\w+)\{?(.*?)\}?$/.exec(name) ?? []
    if (!ASKED.has(metric)) return []
    const values = this.#scrapes.map((samples, index) => {
      const value = samples.get(name)
      return value === undefined ? ['stale', '_'][index === 0 ? 1 : 0] : this.#toText(name, value)
    })
    if (values.at(-1) !== 'stale') values.push(`${values.at(-1)}x${this.#waited}`)
    const all = ['job="plant-store"', 'instance="a"', ...(labels === '' ? [] : [labels])]
    return [{ series: `${metric}{${all}}`, values: values.join(' ') }]
  }

  /** Fails unless these alerts fire at the end, and no other. */
  expectAlerts(alerts: readonly string[]) {
    const names = new Set(this.#scrapes.flatMap((samples) => [...samples.keys()]))
    const asserted = {
      expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${this.#scrapes.length + this.#waited}m`,
      exp_samples: alerts.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
    }
    const input_series = [...names].flatMap((name) => this.#seriesOf(name))
    const tests = [{ interval: '1m', input_series, promql_expr_test: [asserted] }]
    const rule_files = [join(OPERATIONS, 'alerts.yml')]
    const file = join(temporaryFolder(), 'test.yml')
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ rule_files, evaluation_interval: '1m', tests }))
    expect(runPromtool(['test', 'rules', file])).toContain('SUCCESS')
  }
}

let id = 0
const create = async (server: ServerProcess) =>
  (await post(server, { body: plantText(++id) })).text()

/** Begins a create a second, whatever becomes of those before. */
async function createOnAndOn(server: ServerProcess): Promise<void> {
  create(server).catch(() => {})
  await sleep(1_000)
}

/** A primary with a synchronous standby, and a server over a database of it. */
async function serveOnPair() {
  const pair = await startPair()
  onTestFinished(() => pair.stop(), 60_000)
  const server = await serve(await prepareDatabase(await pair.primary.createDatabase()))
  return { ...pair, server }
}

const fired = new Set<string>()

function fires(alerts: readonly string[], fault: string, make: (recording: Recording) => unknown) {
  for (const alert of alerts) fired.add(alert)
  test(`${fault}: ${alerts.join(', ') || 'none'}`, async () => {
    const recording = new Recording()
    await make(recording)
    recording.expectAlerts(alerts)
  })
}

describe('alerts that fire, and no other, by', needsPromtool, () => {
  fires([], 'a server that stores plants', async (recording) => {
    const server = await startScrapedServer()
    await recording.scrape(server, 40, () => create(server))
  })

  fires(['PlantStoreDown'], 'no server at all', (recording) => recording.wait(5))

  fires(['PlantStoreDown'], 'a server that was killed', async (recording) => {
    const server = await startScrapedServer()
    await recording.scrape(server, 2)
    await server.end('SIGKILL')
    await recording.scrape(server, 3)
  })

  fires(['PlantStoreRestarting'], 'a server that ends again and again', async (recording) => {
    const folder = temporaryFolder()
    for (let start = 0; start < 4; start++) {
      const server = await startServerProcess({ folder, token: 'known' })
      await recording.scrape(server, 1)
      await server.end('SIGKILL')
      await sleep(1_000)
    }
  })

  const stuck = ['PlantStoreCommitsSlow', 'PlantStoreErrors', 'PlantStoreNotReady']

  fires(stuck, 'another process that holds the store', async (recording) => {
    const server = await startScrapedServer()
    server.holdCommits()
    await recording.scrape(server, 14, () => createOnAndOn(server))
  })

  fires(['PlantStoreCommitsSlow'], 'another process that holds up commits', async (recording) => {
    const server = await startScrapedServer()
    await recording.scrape(server, 16, async () => {
      const release = server.holdCommits()
      const created = create(server)
      await sleep(300)
      release()
      await created
    })
  })

  const lost = ['PlantStoreOutcomeUnknown', 'PlantStoreStandbyMissing']

  fires([...stuck, ...lost], 'a synchronous standby that is gone', async (recording) => {
    const { standby, server } = await serveOnPair()
    await recording.scrape(server, 2, () => create(server))
    standby.kill()
    await recording.scrape(server, 18, () => createOnAndOn(server))
  })

  fires(['PlantStoreStandbyMissing'], 'a standby that is asynchronous', async (recording) => {
    const { primary, server } = await serveOnPair()
    await primary.set('synchronous_standby_names', "''")
    await recording.scrape(server, 10, () => createOnAndOn(server))
  })

  describe('on a small disk', needsSmallBlocks, () => {
    fires(['PlantStoreDiskFull'], 'a disk that is nearly full', async (recording) => {
      const { folder, under } = await mountSmallBlocks(64, 1_024)
      const environment = { PLANT_STORE_DATABASE_URL: `sqlite:${folder}/plants.db` }
      expect(await runToEnd({ under, environment, args: ['migrate'] })).toMatchObject({ code: 0 })
      const server = await startServerProcess({ under, environment })
      await recording.scrape(server, 8)
    })
  })

  fires(['PlantStoreBackupOld'], 'a store that never had a backup', async (recording) => {
    await recording.scrape(await startScrapedServer(), 2)
    recording.wait(27 * 60)
  })

  fires(['PlantStoreBackupOld'], 'a backup that was the last one', async (recording) => {
    const server = await startScrapedServer()
    expect((await runOn(server.path, `backup ${server.path}.backup`)).code).toBe(0)
    await recording.scrape(server, 2)
    recording.wait(27 * 60)
  })

  fires(['PlantStoreNewStore'], 'another store where one was before', async (recording) => {
    for (let start = 0; start < 2; start++) await recording.scrape(await startScrapedServer(), 2)
  })

  fires(['PlantStoreNoCreates'], 'callers that are gone since yesterday', async (recording) => {
    const server = await startScrapedServer()
    await recording.scrape(server, 20, () => create(server))
    recording.wait(24 * 60)
  })

  const busy = 'one busy caller with a revoked token beside a good one'
  fires(['PlantStoreTokensRefused'], busy, async (recording) => {
    const server = await startScrapedServer()
    const token = (await runOn(server.path, 'token create --name busy')).out.trim()
    await runOn(server.path, `token revoke ${token.split('_')[1]}`)
    const callers = [server, ...Array.from({ length: 10 }, () => ({ ...server, token }))]
    await recording.scrape(server, 40, () => Promise.all(callers.map(create)))
  })

  fires(['PlantStoreTokenEnds'], 'a token that ends within two weeks', async (recording) => {
    const server = await startScrapedServer({}, 'cron', 13 * 86_400_000)
    const name = 'plant_store_next_token_end_timestamp_seconds'
    await expect.poll(async () => (await server.scrape()).has(name)).toBe(true)
    await recording.scrape(server, 2)
  })

  fires(['PlantStoreIssuerKeysUnavailable'], 'an issuer that is away', async (recording) => {
    const server = await startScrapedServer({
      ...JWT_RULES,
      PLANT_STORE_JWKS_URL: `http://127.0.0.1:${await findFreePort()}/keys`,
    })
    // Its keys are asked for once in ten seconds.
    await recording.scrape(server, 13, () => createOnAndOn({ ...server, token: good() }))
    recording.wait(20)
  })

  test('are all that there are', () => {
    const names = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name)
    expect([...fired].toSorted()).toEqual(names.toSorted())
  })
})
