import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Takes what ends something: the end of a test, or `afterAll` for what the tests of a file share. */
export type OnEnd = (end: () => Promise<void> | void) => void

/** A fresh folder, without a link in its path, that is removed after the test. */
export function temporaryFolder(onEnd: OnEnd = onTestFinished): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'plant-store-'))
  onEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
