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

/** A traced create that waits for the commit that holds its plant. */
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

async function createTraced(
  tracer: Tracer,
  waits: Waits,
  request: TracedRequest,
  plant: NewPlant,
  create: () => Promise<CreateOutcome>,
): Promise<CreateOutcome> {
  const span = startInnerSpan(tracer, 'wait for commit', request)
  waits.set(plant, { request, span })
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
 * Spans for the wait of each traced create and for each commit that carried one. The commit is in
 * the trace of the first of them, links to the requests of all, and the wait of each links to it.
 */
export function createCommitSpans(tracer: Tracer): CommitSpans {
  // By the plant itself: the store hands the very objects that it was given to its observer.
  const waits: Waits = new WeakMap()
  return {
    traceCreates: (plants) => ({
      create(plant, timing) {
        const request = tracedRequest.getStore()
        const create = () => plants.create(plant, timing)
        return request === undefined
          ? create()
          : createTraced(tracer, waits, request, plant, create)
      },
    }),
    observer: {
      itemWaited() {},
      commitStatementEnded() {},
      commitEnded: (ended) => recordCommit(tracer, waits, ended),
    },
  }
}
