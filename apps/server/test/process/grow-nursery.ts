import { getHeapSpaceStatistics } from 'node:v8'
import { boundNursery } from '../../src/process/bound-nursery.ts'

// Run as a program: prints the size of its nursery in MiB after one long turn, and after many turns.

function keepMuch(): object[] {
  return Array.from({ length: 40_000 }, (_, index) => ({ index }))
}

function nurseryMebibytes(): number {
  const nursery = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return (nursery?.space_size ?? 0) / 1024 ** 2
}

boundNursery(4 * 1024 ** 2)
const kept = Array.from({ length: 20 }, keepMuch)
console.log(nurseryMebibytes())
for (let turn = 0; turn < 100; turn++) {
  kept[turn % kept.length] = keepMuch()
  await new Promise(setImmediate)
}
console.log(nurseryMebibytes())
