import { type Call, type Language, urlOf } from './call.ts'

/** One word of a POSIX shell, in which nothing is expanded. */
function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function writeCurl(call: Call): string {
  const { token, body } = call
  const bearer = 'authorization: Bearer '
  const header = token === undefined ? `"${bearer}$PLANT_STORE_TOKEN"` : shellWord(bearer + token)
  return `curl -i ${shellWord(urlOf(call))} \\
  -H ${header} \\
  -H 'content-type: application/json' \\
  --data-raw ${shellWord(body)}
`
}

export const curl: Language = {
  name: 'curl',
  needs: 'A shell as on Linux and macOS.',
  write: writeCurl,
}
