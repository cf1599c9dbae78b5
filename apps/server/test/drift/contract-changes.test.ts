import { decodeJson, type JsonValue } from '@plant-store/contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compareDocuments } from '../../../../packages/contract/document-changes/compare-documents.ts'
import type { ContractExamination } from './examine-contract.ts'
import { errorSeeds, operationSeeds } from './seeds/operation.ts'
import { CALLER, CALLER_SOURCE, type Seed } from './seeds/seed.ts'
import { fieldSeeds, limitSeeds } from './seeds/values.ts'
import { copyWorkspace, type WorkspaceCopy } from './workspace-copy.ts'

/** A seed runs the compiler up to three times; this is many times what that takes. */
const TIMEOUT_MS = 120_000

let copy: WorkspaceCopy
let document: JsonValue

beforeAll(async () => {
  copy = copyWorkspace()
  copy.write(CALLER, CALLER_SOURCE)
  document = readDocument(await copy.examineContract())
})

afterAll(() => copy[Symbol.dispose]())

function readDocument({ document }: ContractExamination): JsonValue {
  return decodeJson(Buffer.from(document))
}

async function expectCaught({ types, document: changes, failedCase }: Seed): Promise<void> {
  if (types !== undefined) {
    const broken = await copy.findBrokenFiles(types)
    expect(broken).toEqual(expect.arrayContaining([...types]))
  }
  if (changes === undefined && failedCase === undefined) return
  const examined = await copy.examineContract()
  const found = compareDocuments(document, readDocument(examined))
    .filter(({ weight }) => weight !== 'editorial')
    .map(({ weight, change }) => `${weight} ${change}`)
  expect([...new Set(found)]).toEqual(changes ?? [])
  if (failedCase === undefined) expect(examined.failedCases).toEqual([])
  else expect(examined.failedCases).toContain(failedCase)
}

describe('where the contract is as it is', () => {
  test('nothing is noticed', { timeout: TIMEOUT_MS }, async () => {
    expect(await copy.findBrokenFiles()).toEqual([])
    expect((await copy.examineContract()).failedCases).toEqual([])
  })
})

/** What notices a seed, for the name of its test. */
function namesOfGuards({ types, document: changes, failedCase }: Seed): string {
  return [types && 'the types', changes && 'the document', failedCase && 'the cases']
    .filter(Boolean)
    .join('; ')
}

describe('a change of the contract is noticed:', () => {
  const seeds = [...fieldSeeds, ...limitSeeds, ...operationSeeds, ...errorSeeds]
  const named = seeds.map((seed) => ({ ...seed, guards: namesOfGuards(seed) }))
  test.each(named)('$claim, by $guards', { timeout: TIMEOUT_MS }, async (seed) => {
    expect(seed.guards).not.toBe('')
    copy.change(`packages/contract/src/${seed.file}`, seed.from, seed.to)
    try {
      await expectCaught(seed)
    } finally {
      copy.restore()
    }
  })
})
