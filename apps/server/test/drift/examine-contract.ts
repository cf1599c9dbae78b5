import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { InvalidCase, ValidCase } from '../../../../packages/contract/test/cases.ts'

/** What a contract does when it runs. */
export interface ContractExamination {
  /** Its OpenAPI document, as JSON text. */
  readonly document: string
  /** The names of the cases whose outcome is another than they state. */
  readonly failedCases: readonly string[]
}

const [sources = ''] = process.argv.slice(2)
const load = (file: string) => import(pathToFileURL(join(sources, file)).href)

const contract: typeof import('@plant-store/contract') = await load('index.ts')
const openapi: typeof import('@plant-store/contract/openapi') = await load('openapi.ts')

function readCases<Case>(file: string): Case[] {
  const path = new URL(`../../../../packages/contract/cases/${file}`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8'))
}

function bytesOf(one: ValidCase | InvalidCase): Buffer {
  return 'body' in one ? Buffer.from(one.body) : Buffer.from(one.bodyBase64, 'base64')
}

/** A plant with its id in digits, or the name of the error, with its message where it has one. */
function outcomeOf(bytes: Uint8Array): string {
  try {
    const { data, error } = contract.NewPlant.safeParse(contract.decodeJson(bytes))
    if (error !== undefined) return `invalid_plant ${contract.describeProblems(error.issues)}`
    return JSON.stringify({ ...data, id: String(data.id) })
  } catch (error) {
    if (error instanceof contract.JsonSyntaxError) return 'malformed_json'
    throw error
  }
}

function expectedOf(one: ValidCase | InvalidCase): string {
  if ('plant' in one) return JSON.stringify(one.plant)
  return 'message' in one ? `${one.error} ${one.message}` : one.error
}

const cases = [...readCases<ValidCase>('valid.json'), ...readCases<InvalidCase>('invalid.json')]
const examination: ContractExamination = {
  document: openapi.formatOpenApiJson(openapi.createOpenApiDocument()),
  failedCases: cases
    .filter((one) => outcomeOf(bytesOf(one)) !== expectedOf(one))
    .map(({ name }) => name),
}
process.stdout.write(JSON.stringify(examination))
