import { expect, test } from 'vitest'
import { createPlantStoreClient } from '../src/index.ts'
import { createFakeFetch, replyFern } from './fake-fetch.ts'
import { createSeededRandom } from './fake-runtime.ts'

const MAX_DIGITS = ['9223372036854775807', '9223372036854775808'] as const

/** The digits of an int64, written digit by digit, so that no number has touched them. */
function writeRandomId(random: () => number): string {
  const sign = random() < 0.5 ? '-' : ''
  const length = 1 + Math.floor(random() * 19)
  const first = 1 + Math.floor(random() * 9)
  const rest = Array.from({ length: length - 1 }, () => Math.floor(random() * 10))
  const digits = [first, ...rest].join('')
  const most = MAX_DIGITS[sign === '' ? 0 : 1]
  return sign + (length === 19 && digits > most ? most : digits)
}

test('100,000 random ids travel with exactly their digits', async () => {
  const random = createSeededRandom(64)
  const { fetch, sent } = createFakeFetch(replyFern)
  const { createPlant } = createPlantStoreClient({
    baseUrl: 'http://127.0.0.1:3000',
    token: 'token',
    fetch,
  })
  const edges = ['0', '-1', '-9223372036854775808', '9223372036854775807', '9007199254740993']
  const ids = [...edges, ...Array.from({ length: 100_000 }, () => writeRandomId(random))]
  for (const id of ids) {
    const isSafe = Number.isSafeInteger(Number(id)) && random() < 0.5
    await createPlant({ id: isSafe ? Number(id) : BigInt(id), name: 'Fern' })
  }
  const wrong = ids.filter((id, index) => sent[index]?.body !== `{"id":${id},"name":"Fern"}`)
  expect(wrong).toEqual([])
  expect(ids.filter((id) => !Number.isSafeInteger(Number(id))).length).toBeGreaterThan(10_000)
}, 120_000)
