import { readFileSync } from 'node:fs'
import { MAX_JSON_DEPTH } from '@plant-store/contract'
import { expect, test } from 'vitest'
import { settings } from '../../src/settings/settings.ts'

const path = new URL('../../../../packages/contract/openapi.json', import.meta.url)
const document = readFileSync(path, 'utf8')

const kibibytes = (bytes: string) => `${Number(bytes) / 1024} KiB`

test.each([
  `nested deeper than ${MAX_JSON_DEPTH} levels`,
  `longer than the server takes, ${kibibytes(settings.bodyLimitBytes.initial)} by default`,
  `must not exceed ${settings.bodyLimitBytes.initial} bytes`,
  `More than ${kibibytes(settings.headerLimitBytes.initial)} of headers by default`,
])('the document tells of a limit as the server has it: %s', (words) => {
  expect(document).toContain(words)
})
