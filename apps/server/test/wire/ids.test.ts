import { describe, expect, test } from 'vitest'
import { useWireServer } from './harness.ts'
import { plantOf, plantText, post } from './request.ts'

const server = useWireServer()

const zeros = (count: number) => '0'.repeat(count)

describe('every spelling of an integer within int64 is stored exactly:', () => {
  test.each<[literal: string, id: bigint]>([
    ['0', 0n],
    ['-0', 0n],
    ['1', 1n],
    ['-1', -1n],
    ['7.0', 7n],
    ['-7.000', -7n],
    ['1e3', 1_000n],
    ['1E3', 1_000n],
    ['1e+3', 1_000n],
    ['1e0', 1n],
    ['1e-0', 1n],
    ['10E-1', 1n],
    ['70e-1', 7n],
    ['1.50e1', 15n],
    ['0.1e1', 1n],
    ['-0.5e1', -5n],
    ['0.0', 0n],
    ['-0.0e-5', 0n],
    ['0e999999999', 0n],
    ['0E-1000000000', 0n],
    ['0.000e400', 0n],
    ['2147483648', 2_147_483_648n],
    ['4294967297', 4_294_967_297n],
    ['999999999999999', 999_999_999_999_999n],
    ['1000000000000000', 1_000_000_000_000_000n],
    ['9007199254740991', 9_007_199_254_740_991n],
    ['-9007199254740991', -9_007_199_254_740_991n],
    ['9007199254740992', 9_007_199_254_740_992n],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
    ['9007199254740993.0', 9_007_199_254_740_993n],
    ['9.007199254740993e15', 9_007_199_254_740_993n],
    ['1e18', 1_000_000_000_000_000_000n],
    ['1234567890123456789', 1_234_567_890_123_456_789n],
    ['9223372036854775806', 9_223_372_036_854_775_806n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['9223372036854775807.0', 9_223_372_036_854_775_807n],
    ['-9223372036854775808.000', -9_223_372_036_854_775_808n],
    ['9.223372036854775807e18', 9_223_372_036_854_775_807n],
    ['-9.223372036854775808E+18', -9_223_372_036_854_775_808n],
    ['922337203685477580700e-2', 9_223_372_036_854_775_807n],
    ['0.00000000000000000009223372036854775807e38', 9_223_372_036_854_775_807n],
  ])('%s', (literal, id) => server.accepts(post(plantText(literal)), plantOf(id)))

  test.each<[claim: string, literal: string]>([
    ['1 followed by 60 zeros and divided by as many', `1${zeros(60)}e-60`],
    ['1 after 60 zeros of a fraction', `0.${zeros(60)}1e61`],
    ['1 followed by 60,000 zeros and divided by as many', `1${zeros(60_000)}e-60000`],
    ['1 with 60,000 zeros of a fraction', `1.${zeros(60_000)}`],
    ['1 with an exponent of 1,000 leading zeros', `1e${zeros(1_000)}`],
  ])('%s', (_claim, literal) => server.accepts(post(plantText(literal)), plantOf(1)))

  test('0 with an exponent of 400 digits', () =>
    server.accepts(post(plantText(`0e${'9'.repeat(400)}`)), plantOf(0)))

  test('9007199254740992 and 9007199254740993 are two plants', async () => {
    const ids = [9_007_199_254_740_992n, 9_007_199_254_740_993n]
    const plant = { name: plantOf(1).name }
    await server.check({
      sent: Buffer.concat(ids.map((id) => post(plantText(id)))),
      replies: [{ plant }, { plant }],
      stored: ids.map(plantOf),
    })
  })

  test('an inexact number in another member leaves the id exact', () =>
    server.accepts(
      post(`{"x":[0.1,1e400,{"id":3}],"id":9223372036854775807,"name":"${plantOf(1).name}"}`),
      plantOf(9_223_372_036_854_775_807n),
    ))
})

describe('an id that is no integer within int64 is refused:', () => {
  const error = {
    error: 'invalid_plant',
    message: /^id: must be an integer between -9223372036854775808 and 9223372036854775807$/,
  } as const

  test.each<[literal: string]>([
    ['1.5'],
    ['-0.5'],
    ['1e-1'],
    ['15e-1'],
    ['0.0000001'],
    ['3.0000000000000001'],
    ['9007199254740992.5'],
    ['9007199254740993.5'],
    ['4503599627370497.5'],
    ['9223372036854775807.5'],
    ['9223372036854775806.9999999999999999'],
    ['-9223372036854775808.1'],
    ['9.2233720368547758071e18'],
    ['9223372036854775808'],
    ['-9223372036854775809'],
    ['9.223372036854775808e18'],
    ['18446744073709551615'],
    ['18446744073709551617'],
    ['1e19'],
    ['-1e19'],
    ['1e308'],
    ['1e400'],
    ['-1e400'],
    ['1e1000000000'],
    ['-1e1000000000'],
    ['0.1e1000000000'],
    ['1e-400'],
    ['1e-1000000000'],
    ['5e-324'],
    ['"1"'],
    ['"9007199254740993"'],
    ['""'],
    ['null'],
    ['true'],
    ['false'],
    ['[]'],
    ['[1]'],
    ['{}'],
    ['{"valueOf":1}'],
  ])('%s', (literal) => server.refuses(post(plantText(literal)), error))

  test.each<[claim: string, literal: string]>([
    ['1,000 digits', '1'.repeat(1_000)],
    ['60,000 digits', '9'.repeat(60_000)],
    ['an exponent of 400 digits', `1e${'9'.repeat(400)}`],
    ['a negative exponent of 400 digits', `1e-${'9'.repeat(400)}`],
    ['a 1 after 60,000 zeros of a fraction', `0.${zeros(60_000)}1`],
    ['a fraction after 60,000 zeros', `1.${zeros(60_000)}1`],
  ])('%s', (_claim, literal) => server.refuses(post(plantText(literal)), error))
})

describe('no id takes long to be judged:', () => {
  test.each<[claim: string, literal: string]>([
    ['1e1000000000', '1e1000000000'],
    ['0.1e1000000000', '0.1e1000000000'],
    ['1e-1000000000', '1e-1000000000'],
    ['60,000 zeros, then a 1', `1${zeros(60_000)}1`],
    ['60,000 zeros of a fraction, then a 1', `0.${zeros(60_000)}1`],
    ['60,000 digits', '7'.repeat(60_000)],
    ['60,000 digits scaled back', `${'7'.repeat(60_000)}e-59990`],
  ])('%s is answered hardly later than text as long', async (_claim, literal) => {
    const plainMs = await server.fastestMs(post(plantText(`"${literal}"`)))
    expect(await server.fastestMs(post(plantText(literal)))).toBeLessThan(50 + 10 * plainMs)
    await server.expectStoredAndServing([])
  })
})
