import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, '../src/main.ts')

/** Runs a short benchmark; the p50 in ms by the title of the server. @throws when it fails */
async function measure(...names: readonly string[]): Promise<Record<string, number>> {
  const only = names.flatMap((name) => ['--only', name])
  const args = [program, '--rounds', '1', '--seconds', '0.3', ...only]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const rows = stdout.matchAll(/^\| (.+?) +\| +64 \| [^|]+\| +([\d.]+) \|/gm)
  return Object.fromEntries([...rows].map(([, title, p50]) => [title, Number(p50)]))
}

// The program itself fails when a database does not hold exactly what was answered 200.
test('measures servers, and commits are as slow as their variants say', {
  timeout: 60_000,
}, async () => {
  const p50 = await measure('raw', 'no-store', 'server+2ms', 'fastify+2ms', 'postgres×2')
  expect(p50).toEqual({
    'node:http (in memory)': expect.any(Number),
    'Plant Store (no store)': expect.any(Number),
    'Plant Store (SQLite + 2 ms)': expect.any(Number),
    'Fastify (better-sqlite3 + 2 ms)': expect.any(Number),
    'Plant Store ×2 (PostgreSQL)': expect.any(Number),
  })
  expect(p50['Plant Store (SQLite + 2 ms)']).toBeGreaterThan(2)
  expect(p50['Fastify (better-sqlite3 + 2 ms)']).toBeGreaterThan(2)
})

test('refuses a contestant that does not exist', async () => {
  await expect(measure('nobody')).rejects.toThrow('--only nobody: there is no such contestant')
})
