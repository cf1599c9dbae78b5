import { byId, element } from '../overview/element.ts'
import type { Call, Language } from './commands/call.ts'
import { languages } from './commands/languages.ts'
import { copy } from './copy.ts'
import { readPlant, writePlant } from './plant.ts'
import { MASK } from './show-answer.ts'
import { startTabs } from './tabs.ts'

/** How long a button says that it has copied, in ms. */
const COPIED_MS = 2_000

/** What Send would send. */
interface Input {
  readonly token: string
  readonly body: string
}

function describeHow({ needs, file, run }: Language): (Node | string)[] {
  if (file === undefined || run === undefined) return [needs]
  return [
    'Save it as ',
    element('code', '', file),
    ', then ',
    element('code', '', run),
    `. ${needs}`,
  ]
}

/** Shows the program of the chosen language for the input of now, and copies it. `baseUrl` is that of the service. */
export function startPrograms(
  baseUrl: string,
  readInput: () => Input,
): { readonly renew: () => void } {
  const withToken = byId('with-token') as HTMLInputElement
  const button = byId('copy') as HTMLButtonElement
  let [language] = languages

  /** `mask` stands for the token where the program is only shown. */
  function write(mask?: string): string {
    const { token, body } = readInput()
    const plant = readPlant(body)
    const call: Call = {
      baseUrl,
      body: plant ? writePlant(plant) : body,
      plant,
      token: withToken.checked && token ? (mask ?? token) : undefined,
    }
    return language.write(call)
  }

  function renew(): void {
    byId('command').textContent = write(MASK)
  }

  async function copyProgram(): Promise<void> {
    button.textContent = (await copy(write())) ? 'Copied' : 'Select and copy it yourself'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, COPIED_MS)
  }

  startTabs((index) => {
    language = languages[index] ?? language
    byId('how').replaceChildren(...describeHow(language))
    renew()
  })
  withToken.disabled = button.disabled = false
  withToken.addEventListener('change', renew)
  button.addEventListener('click', () => void copyProgram())
  return { renew }
}
