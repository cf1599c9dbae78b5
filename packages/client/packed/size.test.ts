import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { pathOf } from './packages.ts'

const CLIENT = pathOf('../dist/index.js')

/** What a program that imports something of the client carries of it, minified and gzipped, in KiB. */
async function sizeOf(imported: string, entry = CLIENT, external: string[] = []): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export ${imported} from '${entry}'`, resolveDir: pathOf('.') },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external,
  })
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length / 1_024
}

const EVERYTHING = '*'
const ONE_BY_ONE = '{ createPlantStoreClient, isPlantStoreError }'
const SOURCES = pathOf('../src/index.ts')

describe('minified and gzipped', () => {
  test('the whole client is at most 16.75 KiB, zod and the contract included', async () => {
    expect(await sizeOf(EVERYTHING)).toBeLessThanOrEqual(16.75)
  })

  test('a program that creates plants one by one does not carry the bulk', async () => {
    const [one, all] = [await sizeOf(ONE_BY_ONE), await sizeOf(EVERYTHING)]
    expect(one).toBeLessThanOrEqual(15.75)
    expect(all - one).toBeGreaterThan(0.8)
  })

  test('our own code is at most 9.6 KiB of it, and 8.6 KiB without the bulk', async () => {
    const own = (imported: string) => sizeOf(imported, SOURCES, ['@plant-store/contract'])
    expect(await own(EVERYTHING)).toBeLessThanOrEqual(9.6)
    expect(await own(ONE_BY_ONE)).toBeLessThanOrEqual(8.6)
  })
})

test('what others wrote in the bundle is zod alone, and its licence is included', async () => {
  const { metafile } = await build({
    entryPoints: [SOURCES],
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'neutral',
  })
  const inputs = Object.keys(metafile?.outputs['index.js']?.inputs ?? {})
  const foreign = inputs.filter((path) => path.includes('node_modules'))
  const packages = foreign.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
  expect(new Set(packages)).toEqual(new Set(['zod']))
  const licence = readFileSync(pathOf('../../contract/node_modules/zod/LICENSE'), 'utf8')
  expect(readFileSync(pathOf('../THIRD-PARTY-LICENSES.md'), 'utf8')).toContain(licence.trim())
})
