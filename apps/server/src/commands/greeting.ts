import { AUTHORIZATION_SCHEME, contract, headerNames } from '@plant-store/contract'
import { takesJwt } from '../auth/authenticate.ts'
import type { Config } from '../config/config.ts'
import type { RunningServer } from '../http/server.ts'
import { printableLine } from '../text/printable.ts'

function describeFirstPlant(url: string, token: string): string {
  const { method, path, contentType } = contract.createPlant
  const credential = `${headerNames.authorization}: ${AUTHORIZATION_SCHEME} ${token}`
  return (
    `\nYour token, shown this once:\n\n  ${token}\n\nStore a plant:\n\n` +
    `  curl -i -w '\\n' -X ${method} ${url}${path} -H '${credential}' ` +
    `-H '${headerNames.contentType}: ${contentType}' -d '{"id":1,"name":"Fern","tag":"indoor"}'\n\n`
  )
}

/** What a server says of its store; `empty` where that has no plants, `token` that of a first run. */
interface Said {
  readonly description: string
  readonly empty: string | undefined
  readonly token: string | undefined
}

/** What a server prints once it listens. */
export function formatGreeting(
  config: Config,
  { url, operationsUrl }: RunningServer,
  { description, empty, token }: Said,
): string {
  const other = 'Another token, if yours is lost: plant-store-server token create --name NAME\n'
  const health =
    `See how it is in a browser: ${operationsUrl}/\n` +
    `Health: ${operationsUrl}/livez and ${operationsUrl}/readyz; metrics: ${operationsUrl}/metrics\n`
  return [
    `Plant Store listens on ${url}\n`,
    config.docs ? `Try it in a browser: ${url}/docs\n` : '',
    operationsUrl === undefined ? '' : health,
    `200 means durable: ${printableLine(description)}\n`,
    empty === undefined ? '' : `The store holds ${empty}\n`,
    token === undefined ? '' : describeFirstPlant(url, token),
    token === undefined && !takesJwt(config) ? other : '',
  ].join('')
}
