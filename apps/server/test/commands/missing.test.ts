import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { execute } from './plants.ts'
import { arrange, ends } from './program.ts'

const PLACE = 'sqlite:./data/plants.db'

/** Where somebody named the store, or this is production, one that is missing is lost. */
describe('a store that is missing is not made, and the command that makes it is named', () => {
  test.each([
    ['a flag names it', `server LINE --database-url ${PLACE}`],
    ['the environment names it', `PLANT_STORE_DATABASE_URL=${PLACE} server LINE`],
    ['a file names it', `PLANT_STORE_DATABASE_URL_FILE=<(echo ${PLACE}) server LINE`],
    ['this is production', 'NODE_ENV=production server LINE'],
  ])('by a server where %s', async (_how, under) => {
    const { folder, path, shell } = await arrange()
    const says = `there is no plant store in ${path}. Try: mount its disk, or name its place`
    const ended = await shell(under.replace('LINE', 'serve'))
    expect(ended).toMatchObject(ends(69, says, ''))
    expect(ended.err).toMatch(/plant-store-server migrate$/m)
    expect(readdirSync(folder)).toEqual([])
    const lines = ['migrate', 'token list'].map((line) => under.replace('LINE', line))
    expect(await shell(lines.join(' && '))).toMatchObject({ code: 0 })
  })

  test.each(['token create --name x', 'token list', 'doctor', 'export', 'backup backup.db'])(
    'by `%s`',
    async (line) => {
      const { folder, path, run } = await arrange()
      expect(await run(line)).toEqual(ends(69, `there is no plant store in ${path}`, ''))
      expect(readdirSync(folder)).toEqual([])
    },
  )

  test('where its file is empty, or the making was cut off', async () => {
    const { at, path, run } = await arrange()
    mkdirSync(at('data'))
    writeFileSync(path, '')
    expect(await run('token list')).toEqual(ends(69, 'there is no plant store in'))
    execute(path, `PRAGMA application_id = ${0x504c4e54}`)
    expect(await run('token list')).toEqual(ends(69, 'there is no plant store in'))
  })
})

test('where nothing names the store, the first command makes it', async () => {
  const { at, shell } = await arrange()
  expect(await shell('server token list')).toMatchObject({ code: 0 })
  expect(readdirSync(at('data'))).toContain('plants.db')
})
