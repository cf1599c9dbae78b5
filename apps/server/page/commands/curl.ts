import {
  authorization,
  type Call,
  contentType,
  contentTypeHeader,
  type Language,
  method,
  SCHEME,
  urlOf,
} from './call.ts'

/** One word of a POSIX shell, in which nothing is expanded. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function writeCurl(call: Call): string {
  const { token, body } = call
  const bearer = `${authorization}: ${SCHEME}`
  const header = token === undefined ? `"${bearer}$PLANT_STORE_TOKEN"` : shellWord(bearer + token)
  return `curl -i -X ${method} ${shellWord(urlOf(call))} \\
  -H ${header} \\
  -H '${contentTypeHeader}: ${contentType}' \\
  --data-raw ${shellWord(body)}
`
}

export const curl: Language = {
  name: 'curl',
  needs: 'A shell as on Linux and macOS.',
  write: writeCurl,
}
