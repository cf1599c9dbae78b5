import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runToEnd } from '../process/server-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { execute, makeStore, spreadPlants } from './plants.ts'
import { runOn } from './program.ts'

/** Answers a create 200 and stores nothing. */
const TRIGGER = `CREATE TRIGGER weeds BEFORE INSERT ON plants BEGIN SELECT RAISE(IGNORE); END`

const WEEDS = /is not as this program made it: trigger weeds was added\. Try: find out who/

const addTrigger = (path: string) => execute(path, TRIGGER)

async function arrange() {
  const folder = temporaryFolder()
  const path = join(folder, 'plants.db')
  await makeStore(path, spreadPlants(5))
  return { folder, path }
}

describe('a trigger in the database', () => {
  test('keeps the server from starting', async () => {
    const { folder, path } = await arrange()
    addTrigger(path)
    const ended = await runToEnd({ folder, args: ['serve', '--database-url', 'sqlite:plants.db'] })
    expect(ended).toMatchObject({ code: 69, out: '', err: expect.stringMatching(WEEDS) })
  })

  test.each([
    'token create --name x',
    'token list',
    'export',
    'migrate',
    'backup new.db',
    'doctor',
  ])('is refused by: %s', async (line) => {
    const { folder, path } = await arrange()
    addTrigger(path)
    const before = readFileSync(path)
    const { code, out, err } = await runOn(path, line.replace('new.db', join(folder, 'new.db')))
    expect({ code, out }).toEqual({ code: 69, out: '' })
    expect(err).toMatch(WEEDS)
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(join(folder, 'new.db'))).toBe(false)
  })
})

describe('a trigger in a backup', () => {
  test('is not restored', async () => {
    const { folder, path } = await arrange()
    const backup = join(folder, 'backup.db')
    const target = join(folder, 'target.db')
    await runOn(path, `backup ${backup}`)
    addTrigger(backup)
    const { code, err } = await runOn(target, `restore ${backup}`)
    expect(code).toBe(69)
    expect(err).toMatch(/backup\.db is not as this program made it: trigger weeds was added/)
    expect(existsSync(target)).toBe(false)
  })
})
