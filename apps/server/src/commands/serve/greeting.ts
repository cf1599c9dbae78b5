import { AUTHORIZATION_SCHEME, contract, headerNames } from '@plant-store/contract'
import type { RunningServer } from '../../http/server.ts'
import { printableLine } from '../../text/printable.ts'

export interface Greeting extends Pick<RunningServer, 'url' | 'operationsUrl'> {
  /** Which store it is: Store.description. */
  readonly store: string
  /** Whether the page of the OpenAPI document is served. */
  readonly hasDocs: boolean
  /** The token of a first run; it is shown this once. */
  readonly token: string | undefined
  /** Whether the reader may want another token: not so where an issuer makes them. */
  readonly takesTokens: boolean
}

function describeFirstPlant(url: string, token: string): string {
  const { method, path, contentType } = contract.createPlant
  const credential = `${headerNames.authorization}: ${AUTHORIZATION_SCHEME} ${token}`
  return (
    `\nYour token, shown this once:\n\n  ${token}\n\nStore a plant:\n\n` +
    `  curl -i -w '\\n' -X ${method} ${url}${path} -H '${credential}' ` +
    `-H '${headerNames.contentType}: ${contentType}' -d '{"id":1,"name":"Fern","tag":"indoor"}'\n\n`
  )
}

function describeOtherToken(): string {
  return `Another token, if yours is lost: plant-store-server token create --name NAME\n`
}

/** What a server prints once it listens. */
export function formatGreeting({
  url,
  operationsUrl,
  store,
  hasDocs,
  token,
  takesTokens,
}: Greeting): string {
  const page = hasDocs ? `Try it in a browser: ${url}/docs\n` : ''
  const health =
    operationsUrl === undefined
      ? ''
      : `See how it is in a browser: ${operationsUrl}/\n` +
        `Health: ${operationsUrl}/livez and ${operationsUrl}/readyz; metrics: ${operationsUrl}/metrics\n`
  const otherToken = takesTokens ? describeOtherToken() : ''
  const access = token === undefined ? otherToken : describeFirstPlant(url, token)
  return `Plant Store listens on ${url}\n${page}${health}200 means durable: ${printableLine(store)}\n${access}`
}
