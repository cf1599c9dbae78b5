import type { NewPlant } from '@plant-store/contract'
import { fieldsOf } from '../plant.ts'
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

function writePlant(plant: NewPlant): string {
  const fields = fieldsOf(plant).map(([name, value]) => `${quote(name)}: ${quote(value)}`)
  return `{${fields.join(', ')}}`
}

function writePython(call: Call): string {
  const { token, plant, body } = call
  const secret = token === undefined ? 'os.environ["PLANT_STORE_TOKEN"]' : quote(token)
  const imports = [plant && 'json', token === undefined && 'os', 'urllib.error', 'urllib.request']
  return `${imports.flatMap((name) => (name ? `import ${name}\n` : [])).join('')}
token = ${secret}
body = ${plant ? `json.dumps(${writePlant(plant)})` : quote(body)}
request = urllib.request.Request(
    ${quote(urlOf(call))},
    data=body.encode(),
    headers={"${authorization}": f"${SCHEME}{token}", "${contentTypeHeader}": "${contentType}"},
    method="${method}",
)
try:
    with urllib.request.urlopen(request) as response:
        print(response.status, response.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
`
}

export const python: Language = {
  name: 'Python',
  file: 'first.py',
  run: 'python3 first.py',
  needs: 'Python 3.6 or later, nothing else.',
  write: writePython,
}
