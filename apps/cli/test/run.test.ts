import { expect, test } from 'vitest'
import { openScreen, runProgram } from './helpers/program.ts'

test('help goes to stdout, and is no failure', async () => {
  const { code, stdout, stderr } = await runProgram(['--help'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('Usage: plant-store')
})

test('a person sees the same help in a terminal', async () => {
  const screen = openScreen(['--help'])
  expect(await screen.ended).toBe(0)
  expect(screen.text()).toContain('Usage: plant-store')
})
