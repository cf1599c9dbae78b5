import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startServerProcess } from '../../test/server-process.ts'
import { startProgram } from '../../test/start-program.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { blocksOf, documents, read, root } from './markdown.ts'
import { startProxy } from './proxy.ts'

const server = await startServerProcess({ onEnd: afterAll })
const proxy = await startProxy(afterAll)
const tokenFile = join(temporaryFolder(afterAll), 'token.txt')
writeFileSync(tokenFile, `${server.token}\n`)

const ID_TAKEN =
  'the plant store answered 400: id: 100 is taken by a plant with other content (40003)'
const NO_ID = `must be an integer between ${-(2n ** 63n)} and ${2n ** 63n - 1n}`

describe('a program prints what its document says', () => {
  test.each([
    ['first-plant.ts', "{ name: 'Moss' }\n"],
    ['failures.ts', `stored Fern\nanother plant has the id 7\nid ${NO_ID}\n`],
    ['many-plants.ts', `row 100: ${ID_TAKEN}\n100 stored\n`],
    ['token-function.ts', "{ name: 'Basil' }\n"],
    ['every-status.ts', 'Sage\n'],
    ['fake-fetch.ts', "{ name: 'Fern' }\nserver_error\n"],
    ['proxy.ts', "{ name: 'Yucca' }\n"],
    ['exact-json.ts', `{"id":9007199254740993,"name":"Fern"}\nid: ${NO_ID}; name: is required\n`],
    ['names-of-errors.ts', 'POST /plants authorization 13 statuses\nid_taken 400\n'],
  ])('%s', { timeout: 60_000 }, async (program, printed) => {
    const env = {
      PLANT_STORE_BASE_URL: server.url,
      PLANT_STORE_TOKEN: program === 'token-function.ts' ? '' : server.token,
      TOKEN_FILE: tokenFile,
      PROXY_URL: proxy.url,
    }
    const { ended } = startProgram([process.execPath, join(root, 'examples', program)], { env })
    expect(await ended).toMatchObject({ code: 0, printed })
  })
})

test('the program for a proxy goes through it', () => {
  expect(new Set(proxy.hosts)).toEqual(new Set([`127.0.0.1:${server.port}`]))
})

test('every program of the documents is an example, and every example is in a document', () => {
  // The programs of docs/clients.md are files that `pnpm interop` runs.
  const shown = documents
    .filter((document) => document !== 'docs/clients.md')
    .flatMap(blocksOf)
    .filter(({ language }) => language === 'ts')
  const examples = globSync('examples/*.ts', { cwd: root }).map(read)
  expect(new Set(shown.map(({ text }) => text))).toEqual(new Set(examples))
})
