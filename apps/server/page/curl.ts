import { AUTHORIZATION_SCHEME, headerNames } from '@plant-store/contract'

/** One word of a POSIX shell, in which nothing is expanded. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A create as a command; it reads the token from PLANT_STORE_TOKEN. */
export function writeCurl(url: string, body: string): string {
  return `curl -i ${shellWord(url)} \\
  -H "${headerNames.authorization}: ${AUTHORIZATION_SCHEME} $PLANT_STORE_TOKEN" \\
  -H '${headerNames.contentType}: application/json' \\
  --data-raw ${shellWord(body)}
`
}
