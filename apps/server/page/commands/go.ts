import {
  authorization,
  type Call,
  contentType,
  contentTypeHeader,
  type Language,
  method,
  quote,
  SCHEME,
  urlOf,
} from './call.ts'

/** A raw string where the text can stand in one, else an interpreted one. */
function goString(text: string): string {
  const isRaw = !/[`\r\uFEFF]/.test(text)
  // Go refuses a byte order mark anywhere in a source.
  return isRaw ? `\`${text}\`` : quote(text).replaceAll('\uFEFF', '\\ufeff')
}

function writeGo(call: Call): string {
  const { token, body } = call
  const packages = [
    'fmt',
    'io',
    'log',
    'net/http',
    ...(token === undefined ? ['os'] : []),
    'strings',
  ]
  return `package main

import (
${packages.map((name) => `\t${quote(name)}`).join('\n')}
)

func main() {
	token := ${token === undefined ? 'os.Getenv("PLANT_STORE_TOKEN")' : quote(token)}
	body := ${goString(body)}
	request, err := http.NewRequest("${method}", ${quote(urlOf(call))}, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("${authorization}", "${SCHEME}"+token)
	request.Header.Set("${contentTypeHeader}", "${contentType}")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.StatusCode, string(answer))
}
`
}

export const go: Language = {
  name: 'Go',
  file: 'first.go',
  run: 'go run first.go',
  needs: 'Go 1.16 or later, nothing else.',
  write: writeGo,
}
