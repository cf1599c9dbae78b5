/** A new plant with a random id that is exact as a double, which is what the peers keep. */
export function makeSmallPlant() {
  return { id: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER), name: 'Fern', tag: 'indoor' }
}

/** The same as our store takes it. */
export function makePlant() {
  const plant = makeSmallPlant()
  return { ...plant, id: BigInt(plant.id) }
}
