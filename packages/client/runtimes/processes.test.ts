import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type HostileServer, startHostileServer } from './hostile-server.ts'
import { needs } from './needs.ts'
import { runInProcess } from './run-in-process.ts'
import { findRuntimes, UNDICI } from './runtimes.ts'

describe('every claim holds in a process of its own', () => {
  let server: HostileServer

  beforeAll(async () => {
    server = await startHostileServer()
  })

  afterAll(() => server.close())

  for (const runtime of findRuntimes()) {
    const { title, program } = runtime
    test(title, needs(title, program !== undefined && UNDICI !== undefined), async () => {
      const results = await runInProcess(runtime, server)
      expect(results.filter(({ holds }) => !holds)).toStrictEqual([])
    })
  }
})
