import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pathOf } from './bundle.ts'
import { type HostileServer, startHostileServer } from './hostile-server.ts'
import { needs } from './needs.ts'
import { runInProcess } from './run-in-process.ts'
import { findRuntimes, UNDICI } from './runtimes.ts'
import { cellsOf, readCells } from './table.ts'

const committed = readFileSync(pathOf('results.md'), 'utf8')

describe('every claim holds in a process of its own, and the table says so', () => {
  let server: HostileServer

  beforeAll(async () => {
    server = await startHostileServer()
  })

  afterAll(() => server.close())

  for (const runtime of findRuntimes()) {
    const { title, kind, program } = runtime
    test(title, needs(title, program !== undefined && UNDICI !== undefined), async () => {
      const results = await runInProcess(runtime, server)
      expect(results.filter(({ holds }) => !holds)).toStrictEqual([])
      expect(cellsOf({ title, kind, results })).toStrictEqual(readCells(committed, title))
    })
  }
})
