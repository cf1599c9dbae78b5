import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { needs } from '../../../test/needs.ts'

/** Where Debian puts its browser. */
const CHROMIUM = '/usr/bin/chromium'

/** Without a browser its tests are skipped, and CI fails for that. */
export const needsChromium = needs('chromium', existsSync(CHROMIUM))

/** Starts Debian's browser; the caller has to end it. */
export function launchChromium(...flags: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', ...flags] })
}
