import type { Input } from './inputs.ts'

/** Whether it is still wrong with less. */
type Test<Whole> = (smaller: Whole) => Promise<boolean>

/** Leaves out ever smaller runs of items for as long as it is still wrong without (delta debugging). */
async function leaveOut<Item>(
  whole: readonly Item[],
  isWrong: Test<readonly Item[]>,
): Promise<readonly Item[]> {
  let items = whole
  for (let size = Math.ceil(items.length / 2); ; ) {
    const before = items.length
    for (let start = 0; start < items.length; ) {
      const smaller = items.toSpliced(start, size)
      if (smaller.length > 0 && (await isWrong(smaller))) items = smaller
      else start += size
    }
    if (size === 1 && items.length === before) return items
    size = Math.max(1, Math.floor(size / 2))
  }
}

/** The inputs that it takes, and what it takes of their bytes; in one packet, if that will do. */
export async function findSmallest(
  burst: readonly Input[],
  isWrong: Test<readonly Input[]>,
): Promise<readonly Input[]> {
  let inputs = await leaveOut(burst, isWrong)
  for (const index of inputs.keys()) {
    const put = async (packets: readonly string[]) => {
      const smaller = inputs.with(index, { ...(inputs[index] as Input), packets })
      const isStill = await isWrong(smaller)
      if (isStill) inputs = smaller
      return isStill
    }
    const packets = inputs[index]?.packets ?? []
    if (await put([packets.join('')])) {
      await leaveOut([...packets.join('')], (characters) => put([characters.join('')]))
    }
  }
  return inputs
}
