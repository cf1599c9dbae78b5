import { ROOT_CONTEXT, type Span, type Tracer, trace } from '@opentelemetry/api'
import type { NewPlant } from '@plant-store/contract'
import type { EndedCommit, StoreObserver } from '../../store/observer.ts'
import type { CreateOutcome, PlantStore } from '../../store/store.ts'
import {
  failSpan,
  startInnerSpan,
  type TracedRequest,
  timeWithin,
  tracedRequest,
} from './request-spans.ts'

/** A traced create that waits for the commit of its plant. */
interface Wait {
  readonly request: TracedRequest
  readonly span: Span
}

export interface CommitSpans {
  readonly observer: StoreObserver
  /** The same store, with a span for the wait of each traced create. */
  traceCreates(plants: PlantStore): PlantStore
}

type Waits = WeakMap<NewPlant, Wait>

async function traceOutcome(
  { request, span }: Wait,
  create: () => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  try {
    const outcome = await create()
    span.setAttribute('plant_store.outcome', outcome)
    return outcome
  } catch (error) {
    failSpan(span, error)
    throw error
  } finally {
    span.end(timeWithin(request))
  }
}

function recordCommit(tracer: Tracer, waits: Waits, ended: EndedCommit<NewPlant>): void {
  const { items, startedAt, endedAt, error } = ended
  const carried = items.map((plant) => waits.get(plant)).filter((wait) => wait !== undefined)
  const [first] = carried
  if (first === undefined) return
  const attributes = { 'db.operation.batch.size': items.length }
  const links = carried.map(({ request }) => ({ context: request.span.spanContext() }))
  const startTime = timeWithin(first.request, startedAt)
  const parent = trace.setSpan(ROOT_CONTEXT, first.span)
  const commit = tracer.startSpan('commit', { startTime, attributes, links }, parent)
  if (error !== undefined) failSpan(commit, error)
  commit.end(timeWithin(first.request, endedAt))
  for (const { span } of carried) span.addLink({ context: commit.spanContext() })
}

/**
 * Spans for the wait of each traced create and for each commit with traced plants. The commit belongs
 * to the trace of its first plant and links to the requests of all; each wait links to the commit.
 */
export function createCommitSpans(tracer: Tracer): CommitSpans {
  // Keyed by object: the store passes its observer the same objects that it was given.
  const waits: Waits = new WeakMap()
  return {
    traceCreates: (plants) => ({
      create(plant, timing) {
        const request = tracedRequest.getStore()
        if (request === undefined) return plants.create(plant, timing)
        const wait = { request, span: startInnerSpan(tracer, 'wait for commit', request) }
        waits.set(plant, wait)
        return traceOutcome(wait, () => plants.create(plant, timing))
      },
    }),
    observer: {
      itemWaited() {},
      commitStatementEnded() {},
      commitEnded: (ended) => recordCommit(tracer, waits, ended),
    },
  }
}
