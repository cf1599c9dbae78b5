import { decodeJson, errorTable, NewPlant } from '@plant-store/contract'
import validCases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import {
  createPlantStoreClient,
  type NewPlantInput,
  PlantStoreApiError,
  PlantStoreConnectionError,
  PlantStoreError,
  PlantStoreInputError,
} from '../src/index.ts'
import { type Reply, replyWith, startReplyingServer } from './replying-server.ts'

const FERN = { id: 7, name: 'Fern' }
const replyFern: Reply = (response, request) => {
  const { name, tag } = JSON.parse(request.body)
  replyWith(200, { name, tag })(response, request)
}
const token = 'plant_secret'

/** The request that arrives for a plant. */
async function send(plant: NewPlantInput, path = '') {
  await using server = await startReplyingServer(replyFern)
  await createPlantStoreClient({ baseUrl: server.url + path, token }).createPlant(plant)
  expect(server.received).toHaveLength(1)
  return server.received[0]
}

describe('the request', () => {
  test('is POST /plants with the token and JSON', async () => {
    const request = await send({ ...FERN, tag: 'shade' })
    expect(request).toMatchObject({
      method: 'POST',
      path: '/plants',
      headers: { authorization: 'Bearer plant_secret', 'content-type': 'application/json' },
      body: '{"id":7,"name":"Fern","tag":"shade"}',
    })
  })

  test.each([
    ['', '/plants'],
    ['/', '/plants'],
    ['/garden', '/garden/plants'],
    ['/garden/', '/garden/plants'],
    ['/garden/north//', '/garden/north/plants'],
  ])('goes, for a base URL that ends in "%s", to %s', async (path, expected) => {
    expect(await send(FERN, path)).toMatchObject({ path: expected })
  })

  test.each([
    9223372036854775807n,
    -9223372036854775808n,
    9007199254740993n,
    7n,
    0,
    -1,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
  ])('carries the id %s with all its digits', async (id) => {
    expect(await send({ id, name: 'Fern' })).toMatchObject({ body: `{"id":${id},"name":"Fern"}` })
  })

  test('carries every valid plant of the contract unchanged', async () => {
    await using server = await startReplyingServer(replyFern)
    const client = createPlantStoreClient({ baseUrl: server.url, token })
    const plants = validCases.map(({ plant }) => ({ ...plant, id: BigInt(plant.id) }))
    for (const plant of plants) await client.createPlant(plant)
    const arrived = server.received.map(({ body }) => NewPlant.parse(decodeJson(Buffer.from(body))))
    expect(arrived).toStrictEqual(plants)
  })

  test('carries no tag where it is undefined', async () => {
    const request = await send({ ...FERN, tag: undefined })
    expect(request).toMatchObject({ body: '{"id":7,"name":"Fern"}' })
  })

  test('goes through the fetch that was given', async () => {
    await using server = await startReplyingServer(replyFern)
    const urls: unknown[] = []
    const counting: typeof fetch = (input, init) => {
      urls.push(input)
      return fetch(input, init)
    }
    await createPlantStoreClient({ baseUrl: server.url, token, fetch: counting }).createPlant(FERN)
    expect(urls).toEqual([`${server.url}/plants`])
  })
})

describe("the caller's object", () => {
  test('may be frozen, and is as it was', async () => {
    const plant = Object.freeze({ id: 9007199254740993n, name: 'Fern' })
    await send(plant)
    expect(Reflect.ownKeys(plant)).toEqual(['id', 'name'])
    expect(plant).toStrictEqual({ id: 9007199254740993n, name: 'Fern' })
  })

  test('may have its name from its class', async () => {
    class Fern {
      readonly id = 7n
      get name() {
        return 'Fern'
      }
    }
    expect(await send(new Fern())).toMatchObject({ body: '{"id":7,"name":"Fern"}' })
  })

  test('may have members that JSON does not know', async () => {
    const plant = { ...FERN, water: () => 'watered', kind: Symbol('fern') }
    const { body = '' } = (await send(plant)) ?? {}
    expect(NewPlant.parse(decodeJson(Buffer.from(body)))).toEqual({ id: 7n, name: 'Fern' })
  })

  test('may refer to itself', async () => {
    const plant: NewPlantInput & { self?: unknown } = { ...FERN }
    plant.self = plant
    const { body = '' } = (await send(plant)) ?? {}
    expect(NewPlant.parse(decodeJson(Buffer.from(body)))).toEqual({ id: 7n, name: 'Fern' })
  })
})

describe('a plant that is not one', () => {
  const RANGE = 'must be an integer between -9223372036854775808 and 9223372036854775807'

  test.each<[string, unknown, string]>([
    ['an unsafe number as id', { id: 2 ** 53, name: 'Fern' }, `id: ${RANGE}`],
    ['a negative unsafe number as id', { id: -(2 ** 53), name: 'Fern' }, `id: ${RANGE}`],
    ['a bigint beyond int64', { id: 2n ** 63n, name: 'Fern' }, `id: ${RANGE}`],
    ['a fraction as id', { id: 1.5, name: 'Fern' }, `id: ${RANGE}`],
    ['NaN as id', { id: Number.NaN, name: 'Fern' }, `id: ${RANGE}`],
    ['a string as id', { id: '7', name: 'Fern' }, `id: ${RANGE}`],
    ['no name', { id: 7 }, 'name: is required'],
    ['a lone surrogate', { id: 7, name: '\ud800' }, 'name: must be well-formed Unicode'],
    ['a tag of null', { ...FERN, tag: null }, 'tag: must be a string'],
    ['null', null, 'body: must be a JSON object'],
  ])('is refused before anything is sent: %s', async (_what, plant, problem) => {
    await using server = await startReplyingServer(replyFern)
    const client = createPlantStoreClient({ baseUrl: server.url, token })
    const refusal = client.createPlant(plant as NewPlantInput)
    await expect(refusal).rejects.toThrow(PlantStoreInputError)
    await expect(refusal).rejects.toThrow(`nothing was sent: ${problem}`)
    expect(server.received).toEqual([])
  })

  test.each([
    [2 ** 53, true],
    [1.5, false],
    [2n ** 63n, false],
  ])('with the id %s should be a bigint, says its error: %s', async (id, isAdvised) => {
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:9', token })
    const result = await client.tryCreatePlant({ id, name: 'Fern' })
    expect(result.ok ? '' : result.error.message.includes('give a bigint')).toBe(isAdvised)
  })

  test('may be one that cannot even be read', async () => {
    const plant = {
      id: 7,
      get name(): string {
        throw new Error('locked')
      },
    }
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:9', token })
    await expect(client.createPlant(plant)).rejects.toThrow(
      'nothing was sent: body: could not be read',
    )
  })

  test('has an issue for each problem', async () => {
    const client = createPlantStoreClient({ baseUrl: 'http://127.0.0.1:9', token })
    const refusal = client.createPlant({ id: 1.5 } as NewPlantInput)
    await expect(refusal).rejects.toMatchObject({
      name: 'PlantStoreInputError',
      code: 'invalid_plant',
      applied: 'no',
      attempts: 0,
      issues: [
        { path: ['id'], message: RANGE },
        { path: ['name'], message: 'is required' },
      ],
    })
  })
})

describe('an Error reply', () => {
  test.each(Object.entries(errorTable))('%s is thrown by its name', async (name, row) => {
    const body = { error: row.code, message: 'the words of the server' }
    await using server = await startReplyingServer(replyWith(row.status, body))
    const client = createPlantStoreClient({ baseUrl: server.url, token, maxRetries: 0 })
    const refusal = client.createPlant(FERN)
    await expect(refusal).rejects.toThrow(PlantStoreApiError)
    await expect(refusal).rejects.toMatchObject({
      status: row.status,
      apiCode: row.code,
      apiName: name,
      apiMessage: 'the words of the server',
      message: `the plant store answered ${row.status}: the words of the server (${row.code})`,
    })
  })

  test('with a number of a later version has no name, and its words', async () => {
    const body = { error: 40099, message: 'too green', hint: 'less light' }
    await using server = await startReplyingServer(replyWith(400, body))
    const refusal = createPlantStoreClient({ baseUrl: server.url, token }).createPlant(FERN)
    await expect(refusal).rejects.toMatchObject({
      apiCode: 40099,
      apiName: undefined,
      apiMessage: 'too green',
    })
  })
})

describe('options that cannot work', () => {
  test.each(['127.0.0.1:3000', '/plants', '', 'ftp://127.0.0.1'])(
    'the base URL "%s" is a PlantStoreError, and not one of the connection',
    async (baseUrl) => {
      const create = async () => createPlantStoreClient({ baseUrl, token }).createPlant(FERN)
      await expect(create()).rejects.toThrow(PlantStoreError)
      await expect(create()).rejects.not.toThrow(PlantStoreConnectionError)
    },
  )

  test('a token that no header can hold is not blamed on the connection', async () => {
    await using server = await startReplyingServer(replyFern)
    const create = async () =>
      createPlantStoreClient({ baseUrl: server.url, token: 'secret\ntoken' }).createPlant(FERN)
    await expect(create()).rejects.toThrow(PlantStoreError)
    await expect(create()).rejects.not.toThrow(PlantStoreConnectionError)
    expect(server.received).toEqual([])
  })
})
