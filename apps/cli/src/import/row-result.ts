import type { CreatePlantResult } from '@plant-store/client'
import { type PlantRecord, reasonOf } from '@plant-store/plant-files'
import { wasThere } from '../was-there.ts'

/** Why a row is not stored. */
export interface RowReject {
  readonly type: 'rejected'
  readonly code: string
  /** In one sentence, with the values. */
  readonly message: string
  /** The same words for each row that is rejected for this reason. */
  readonly reason: string
}

/** What became of a row, for certain. */
export type RowResult = { readonly type: 'stored' } | { readonly type: 'alreadyThere' } | RowReject

/** Errors that are about the plant itself, which no later try can change. */
const ABOUT_THE_PLANT: readonly string[] = ['conflict', 'invalid_plant', 'rejected', 'too_large']

/** `id_taken` is "id taken" */
function inWords(code: string): string {
  return code.replaceAll('_', ' ')
}

/** What a reply means for its row; undefined where it says nothing for certain of this row. */
export function toRowResult(result: CreatePlantResult): RowResult | undefined {
  if (result.ok) {
    return { type: wasThere(result.meta) ? 'alreadyThere' : 'stored' }
  }
  const { error } = result
  if (error.applied !== 'no' || !ABOUT_THE_PLANT.includes(error.code)) return undefined
  const { apiName, apiMessage } = error as {
    readonly apiName?: string
    readonly apiMessage?: string
  }
  const code = apiName ?? error.code
  return { type: 'rejected', code, message: apiMessage ?? error.message, reason: inWords(code) }
}

/** The reject that a row is which holds no plant. */
export function toReject({ problem = '', problems = [] }: PlantRecord): RowReject {
  return { type: 'rejected', code: 'invalid_plant', message: problem, reason: reasonOf(problems) }
}
