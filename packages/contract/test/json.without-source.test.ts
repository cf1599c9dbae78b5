import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { needs } from '../../../test/needs.ts'
import { decodeJson } from '../src/index.ts'

/** What runtimes before JSON.parse source text access do: a reviver gets no context. */
async function importWithoutSource(): Promise<typeof decodeJson> {
  const parse = JSON.parse
  vi.resetModules()
  JSON.parse = (text, reviver) =>
    parse(
      text,
      reviver &&
        function withoutSource(this: unknown, key, value) {
          return reviver.call(this, key, value)
        },
    )
  const old = await import('../src/json.ts')
  JSON.parse = parse
  return old.decodeJson
}

const number = fc.oneof(
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('-0', '0e5', '1.0', '20e-1', '9007199254740993.000', '1e400', '0.1e19'),
)

/** They mean something in JSON, or in the exact reading of its numbers. */
const UNITS = [...'"\\ns: {\ud83cé', '9007199254740993', '1.5']

const text = fc.string({ unit: fc.constantFrom(...UNITS) }).map((value) => JSON.stringify(value))

/** Every JSON text, with blanks wherever they may stand. */
const { json } = fc.letrec<{ json: string; array: string; object: string }>((tie) => {
  const blank = fc.constantFrom('', ' ', '\n\t')
  const value = fc.tuple(blank, tie('json'), blank).map((parts) => parts.join(''))
  const member = fc.tuple(blank, text, blank, value).map(([a, key, b, v]) => `${a}${key}${b}:${v}`)
  return {
    json: fc.oneof(
      { maxDepth: 4 },
      number,
      text,
      fc.constantFrom('null', 'true'),
      tie('array'),
      tie('object'),
    ),
    array: fc.array(value, { maxLength: 4 }).map((values) => `[${values.join(',')}]`),
    object: fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`),
  }
})

/** Node.js 20 of this machine, whatever runs the tests. */
const node20 = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find(
    (node) => existsSync(node) && String(spawnSync(node, ['--version']).stdout).startsWith('v20.'),
  )

describe('where JSON.parse gives no source text', () => {
  let decodeWithoutSource: typeof decodeJson

  beforeAll(async () => {
    decodeWithoutSource = await importWithoutSource()
  })

  test('every JSON text has the same value', () => {
    fc.assert(
      fc.property(json, (source) => {
        const bytes = Buffer.from(source)
        expect(decodeWithoutSource(bytes)).toStrictEqual(decodeJson(bytes))
      }),
      { numRuns: 5_000 },
    )
  })

  test('what is not JSON is refused', () => {
    expect(() => decodeWithoutSource(Buffer.from('{"id":1.5 "name":"x"}'))).toThrow(
      'is not valid JSON',
    )
  })

  test('Node.js 20 keeps every digit', needs('Node.js 20', node20 !== undefined), () => {
    const program = `
      const { decodeJson } = await import(${JSON.stringify(join(import.meta.dirname, '../dist/index.js'))})
      for (const source of process.argv.slice(1)) {
        const value = decodeJson(Buffer.from(source))
        console.log(JSON.stringify(value, (_, part) => typeof part === 'bigint' ? part + 'n' : part))
      }`
    const { stdout, stderr } = spawnSync(
      node20 ?? '',
      [
        '--input-type=module',
        '--eval',
        program,
        '{"name":"n1.5","id":9223372036854775807}',
        '[{"1.5" : "s9007199254740993"},-9007199254740993,1.0,0.5]',
      ],
      { encoding: 'utf8' },
    )
    expect({ stdout, stderr }).toEqual({
      stdout:
        '{"name":"n1.5","id":"9223372036854775807n"}\n[{"1.5":"s9007199254740993"},"-9007199254740993n",1,0.5]\n',
      stderr: '',
    })
  })
})
