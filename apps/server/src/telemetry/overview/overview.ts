import type { Express } from 'express'
import { createPublicFiles } from '../../http/docs/public-files.ts'
import { sendPublic } from '../../http/docs/send-public.ts'
import { type PipelineOptions, refuseMethod, reply } from '../../http/pipeline.ts'
import { build } from '../../process/build.ts'
import { files } from '../../process/files.ts'
import { within } from '../../process/within.ts'
import { type Store, StoreUnavailableError } from '../../store/store.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { deriveSeries } from './derive.ts'
import type { History } from './history.ts'
import type { OverviewReply, ShownSetting } from './reply.ts'
import { SAMPLE_MS, startSampler } from './sampler.ts'
import { FACTS } from './shown.ts'

export interface OverviewParts extends PipelineOptions {
  readonly metrics: Metrics
  readonly store: Pick<Store, 'description'>
  readonly changedSettings: readonly ShownSetting[]
  /** Rejects with the reason while creates cannot be answered 200. */
  readonly assertReady: () => Promise<void>
}

/** Where the build puts the files of the page. */
const FOLDER = new URL('overview/', files.built)

/** The page that shows how the server is. */
export const overviewFiles = createPublicFiles(FOLDER, {
  '/': 'index.html',
  '/overview.css': 'overview.css',
  '/overview.js': 'overview.js',
  '/icon.svg': 'icon.svg',
})

/** A page that waits longer would call the server gone. */
const READINESS_LIMIT_MS = 3_000

function describeFailure(error: unknown): string {
  if (error instanceof StoreUnavailableError) return error.detail ?? error.message
  return error instanceof Error ? error.message : String(error)
}

async function describe(
  { metrics, store, changedSettings, assertReady }: OverviewParts,
  history: History,
  since: number,
): Promise<OverviewReply> {
  const ready = assertReady().then(() => null, describeFailure)
  const late = `the store has not answered for ${READINESS_LIMIT_MS / 1_000} s`
  return {
    at: Date.now(),
    ...build,
    store: store.description,
    notReady: await within(READINESS_LIMIT_MS, ready, late),
    settings: changedSettings,
    facts: await metrics.read(FACTS),
    intervalMs: SAMPLE_MS,
    ...deriveSeries(history, since),
  }
}

/**
 * Adds `GET /`, a page for people, and `GET /overview.json`, which it reads: how the server is, and
 * the samples of the last hour, or with `?since=` those after a time in Unix ms.
 */
export function addOverview(app: Express, parts: OverviewParts): void {
  const history = startSampler(parts.metrics, parts.isDraining)
  for (const path of overviewFiles.paths) {
    app.get(path, async (_request, response) => {
      sendPublic(response, await overviewFiles.read(path), parts)
    })
  }
  app.get('/overview.json', async ({ query }, response) => {
    const since = Number(query.since ?? 0) || 0
    reply(response, JSON.stringify(await describe(parts, history, since)), parts)
  })
  app.all([...overviewFiles.paths, '/overview.json'], refuseMethod('GET', 'HEAD'))
}
