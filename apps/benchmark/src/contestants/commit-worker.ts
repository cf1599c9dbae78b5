import { parentPort, workerData } from 'node:worker_threads'
import type { NewPlant } from '@plant-store/contract'
import { openCommit } from './commit.ts'

const commit = await openCommit(workerData.path, workerData.delayMs)

parentPort?.on('message', async (plants: readonly NewPlant[]) => {
  parentPort?.postMessage(await commit(plants))
})
