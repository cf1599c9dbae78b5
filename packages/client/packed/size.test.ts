import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { pathOf } from './packages.ts'

const CLIENT = pathOf('../dist/index.js')

/** What a program that imports something of the client carries of it, minified and gzipped, in KiB. */
async function sizeOf(imported: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export ${imported} from '${CLIENT}'`, resolveDir: pathOf('.') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1_024
}

const EVERYTHING = '*'
const ONE_BY_ONE = '{ createPlantStoreClient, isPlantStoreError }'

describe('minified and gzipped', () => {
  test('the whole client is at most 14 KiB, the contract included', async () => {
    expect(await sizeOf(EVERYTHING)).toBeLessThanOrEqual(14)
  })

  test('a program that creates plants one by one does not carry the bulk', async () => {
    const [one, all] = [await sizeOf(ONE_BY_ONE), await sizeOf(EVERYTHING)]
    expect(one).toBeLessThanOrEqual(12)
    expect(all - one).toBeGreaterThan(0.8)
  })
})

test('nothing in the package was written by others', () => {
  const modules = ['index', 'rest', 'shared'].map((name) =>
    readFileSync(pathOf(`../dist/${name}.js`), 'utf8'),
  )
  // esbuild names each source above its part.
  const sources = modules.flatMap((text) =>
    Array.from(text.matchAll(/^\/\/ (\S+\.[jt]s)$/gm), ([, source]) => source),
  )
  expect(sources).toContain('src/zod-mini.ts')
  expect(sources).toContain('../contract/dist/plant.js')
  expect(sources.filter((source) => !/^(?:src|\.\.\/contract\/dist)\//.test(source ?? ''))).toEqual(
    [],
  )
})
