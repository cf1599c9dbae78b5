const SAFE = Number.MAX_SAFE_INTEGER

/** A new plant with a random id that is exact as a double, which is what the peers keep. */
export function makeSmallPlant() {
  return { id: Math.floor(Math.random() * SAFE), name: 'Fern', tag: 'indoor' }
}

/** The same as our store takes it. */
export function makePlant() {
  const plant = makeSmallPlant()
  return { ...plant, id: BigInt(plant.id) }
}

let risen = BigInt(SAFE)

/** With ids above the random ones, one after the other. */
export function makeRisingPlant() {
  return { id: ++risen, name: 'Fern', tag: 'indoor' }
}
