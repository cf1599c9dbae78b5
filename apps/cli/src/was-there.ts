import type { PlantStoreMeta } from '@plant-store/client'
import { headerNames, REPLAYED } from '@plant-store/contract'

/** Whether a plant that is stored was there before this call, as far as the response can say. */
export function wasThere({ attempts, headers }: PlantStoreMeta): boolean {
  // After a first attempt without a response it may be this call's own plant.
  return attempts === 1 && headers?.get(headerNames.idempotentReplayed) === REPLAYED
}
