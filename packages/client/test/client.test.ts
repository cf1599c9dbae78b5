import { decodeJson, type NewPlant } from '@plant-store/contract'
import invalidCases from '@plant-store/contract/cases/invalid.json' with { type: 'json' }
import validCases from '@plant-store/contract/cases/valid.json' with { type: 'json' }
import { describe, expect, test } from 'vitest'
import { createPlantStoreClient, type NewPlantInput, PlantStoreError } from '../src/index.ts'
import { createFakeFetch, replyJson } from './fake-fetch.ts'

const FERN = { id: 7, name: 'Fern' }
const FERN_AS_SENT = { id: 7n, name: 'Fern' }
const given = { baseUrl: 'http://127.0.0.1:3000', token: 'token' }

/** The plants that arrive where these are created. */
async function send(...plants: readonly NewPlantInput[]): Promise<NewPlant[]> {
  const { fetch, sent } = createFakeFetch(({ body }) => {
    const { name, tag } = JSON.parse(body)
    return replyJson(200, { name, tag })
  })
  const { createPlant } = createPlantStoreClient({ ...given, fetch })
  for (const plant of plants) await createPlant(plant)
  return sent.map(({ body }) => {
    const plant = decodeJson(Buffer.from(body)) as NewPlantInput
    return { ...plant, id: BigInt(plant.id) }
  })
}

test('the request carries every valid plant of the contract unchanged', async () => {
  const plants = validCases.map(({ plant }) => ({ ...plant, id: BigInt(plant.id) }))
  expect(await send(...plants)).toStrictEqual(plants)
})

test('what the contract refuses as no plant is refused in its words before anything is sent', async () => {
  const { tryCreatePlant } = createPlantStoreClient(given)
  const refused = invalidCases.filter(({ error }) => error === 'invalid_plant')
  expect(refused.length).toBeGreaterThan(90)
  for (const { body = '', message = '' } of refused) {
    const plant = decodeJson(Buffer.from(body)) as NewPlantInput
    const result = await tryCreatePlant(plant)
    expect(result).toMatchObject({ ok: false, meta: { attempts: 0 }, error: { applied: 'no' } })
    // A number that has lost digits gets advice besides.
    const said = result.ok ? '' : result.error.message.replace(/give a bigint.*? \((.*)\)/, '$1')
    expect(said).toBe(`nothing was sent: ${message}`)
  }
})

describe("the caller's object", () => {
  test('may have its name from its class', async () => {
    class Fern {
      readonly id = 7n
      get name() {
        return 'Fern'
      }
    }
    expect(await send(new Fern())).toEqual([FERN_AS_SENT])
  })

  test('may have members that JSON does not know, and refer to itself', async () => {
    const plant = { ...FERN, water: () => 'watered', kind: Symbol('fern'), self: {} }
    plant.self = plant
    expect(await send(plant)).toEqual([FERN_AS_SENT])
  })
})

describe('a plant that is not one', () => {
  const { tryCreatePlant, createPlant } = createPlantStoreClient(given)

  test.each([
    [2 ** 53, true],
    [1.5, false],
    [2n ** 63n, false],
  ])('with the id %s should be a bigint, says its error: %s', async (id, isAdvised) => {
    const result = await tryCreatePlant({ id, name: 'Fern' })
    const advice = 'nothing was sent: id: give a bigint, since a number beyond 2^53 has lost digits'
    expect(result.ok ? '' : result.error.message.startsWith(advice)).toBe(isAdvised)
  })

  test('may be one that cannot even be read', async () => {
    const plant = {
      id: 7,
      get name(): string {
        throw new Error('locked')
      },
    }
    await expect(createPlant(plant)).rejects.toThrow('nothing was sent: body: could not be read')
  })

  test('has an issue for each problem', async () => {
    const refusal = createPlant({ id: 1.5 } as NewPlantInput)
    await expect(refusal).rejects.toThrow(PlantStoreError)
    const range = 'must be an integer between -9223372036854775808 and 9223372036854775807'
    await expect(refusal).rejects.toMatchObject({
      name: 'PlantStoreError',
      code: 'invalid_plant',
      message: `nothing was sent: id: ${range}; name: is required`,
      applied: 'no',
      attempts: 0,
      issues: [
        { path: ['id'], message: range },
        { path: ['name'], message: 'is required' },
      ],
    })
  })
})
