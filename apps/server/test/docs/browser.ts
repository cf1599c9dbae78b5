import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { launchChromium } from '../../../../packages/client/hostile/chromium.ts'

/** The network is closed but for the server under test. */
const CLOSED_NETWORK = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'

const SCREENSHOTS = join(import.meta.dirname, '../../screenshots')

export const viewports = {
  desktop: { width: 1280, height: 900 },
  phone: { width: 390, height: 844 },
} as const

export function launchBrowser(): Promise<Browser> {
  return launchChromium(CLOSED_NETWORK)
}

/** What a page did that it must not do. */
export interface Complaints {
  readonly requests: string[]
  readonly messages: string[]
}

/** Notes each request to another origin, each error in the console, and what the policy forbade. */
export async function watch(page: Page, origin: string): Promise<Complaints> {
  const complaints: Complaints = { requests: [], messages: [] }
  page.on('request', (request) => {
    const { protocol, origin: asked } = new URL(request.url())
    if (asked !== origin && protocol !== 'data:') complaints.requests.push(request.url())
  })
  page.on('pageerror', (error) => complaints.messages.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.messages.push(message.text())
  })
  // As text, because the types of a browser are not those of the tests.
  await page.addInitScript(`
    globalThis.policyViolations = []
    document.addEventListener('securitypolicyviolation', (event) => {
      globalThis.policyViolations.push(event.violatedDirective + ' ' + event.blockedURI)
    })`)
  return complaints
}

/** Directive and address of each thing that the Content-Security-Policy of a page has forbidden. */
export function readPolicyViolations(page: Page): Promise<unknown> {
  return page.evaluate('globalThis.policyViolations')
}

/** Keeps how a page looks, for people. */
export async function keepScreenshot(page: Page, name: string): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true })
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
}
