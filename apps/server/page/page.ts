import { AUTHORIZATION_SCHEME, headerNames, REPLAYED } from '@plant-store/contract'
import { writeCurl } from './curl.ts'

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Headers
}

/** What an answer means for the plant. */
interface Meaning {
  readonly verdict: 'Stored' | 'Already there' | 'Nothing stored' | 'May be stored'
  readonly words: string
  /** The row of the error in the page. */
  readonly row?: HTMLTableRowElement | undefined
}

/** Longer than the server lets anything wait. */
const LIMIT_MS = 60_000

/** How long the button says that it has copied. */
const COPIED_MS = 2_000

const ID_FIELD = /("id"\s*:\s*)-?\d+/

const SEND_AGAIN = 'Send the same plant again to find out: a repeat cannot hurt.'

function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`index.html has no ${id}`)
  return found as Kind
}

const form = byId<HTMLFormElement>('form')
const tokenInput = byId<HTMLInputElement>('token')
const bodyInput = byId<HTMLTextAreaElement>('body')

/** Sends once what is typed, to the digit; undefined where no whole answer came. */
async function send(): Promise<Answer | undefined> {
  const token = tokenInput.value.trim()
  const credential = { [headerNames.authorization]: `${AUTHORIZATION_SCHEME} ${token}` }
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      headers: { [headerNames.contentType]: 'application/json', ...(token && credential) },
      body: bodyInput.value,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    return { status: response.status, headers: response.headers, body: await response.text() }
  } catch {
    return undefined
  }
}

function readBody(text: string): { readonly error?: unknown; readonly name?: unknown } {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** An error that this page does not know is judged by its status, as the contract says. */
function explainError(code: number, status: number): Meaning {
  const row = document.querySelector<HTMLTableRowElement>(`tr[data-code="${code}"]`) ?? undefined
  const isRefused = row ? row.dataset.stored === 'no' : status < 500 || status === 503
  const verdict = isRefused ? 'Nothing stored' : 'May be stored'
  return { verdict, words: row?.cells[2]?.textContent ?? 'This page does not know the error.', row }
}

function explain(answer: Answer | undefined): Meaning {
  if (!answer) return { verdict: 'May be stored', words: `No response came. ${SEND_AGAIN}` }
  const { error, name } = readBody(answer.body)
  if (answer.status === 200 && typeof name === 'string') {
    const isReplay = answer.headers.get(headerNames.idempotentReplayed) === REPLAYED
    if (!isReplay) return { verdict: 'Stored', words: 'The plant is on stable storage.' }
    return { verdict: 'Already there', words: 'It was stored before; nothing was changed.' }
  }
  if (answer.status !== 200 && typeof error === 'number') return explainError(error, answer.status)
  const words = `This response is not from Plant Store but from something before it. ${SEND_AGAIN}`
  return { verdict: 'May be stored', words }
}

function fact(name: string, value: Node | string): HTMLElement {
  const group = document.createElement('div')
  group.append(document.createElement('dt'), document.createElement('dd'))
  group.firstElementChild?.append(name)
  group.lastElementChild?.append(value)
  return group
}

function linkTo(row: HTMLElement): HTMLElement {
  const link = document.createElement('a')
  link.href = `#${row.id}`
  link.append(`${row.dataset.code} ${row.id}`)
  return link
}

function factsOf({ status, headers }: Answer, row: HTMLElement | undefined): HTMLElement[] {
  const retryAfter = headers.get(headerNames.retryAfter)
  return [
    fact('Status', String(status)),
    ...(row ? [fact('Error', linkTo(row))] : []),
    ...(retryAfter ? [fact('Retry after', `${retryAfter} s`)] : []),
    fact('Request id', headers.get(headerNames.requestId) ?? 'none'),
  ]
}

function show(answer: Answer | undefined): void {
  const { verdict, words, row } = explain(answer)
  byId('answer').dataset.verdict = verdict
  byId('verdict').textContent = verdict
  byId('words').textContent = words
  byId('facts').replaceChildren(...(answer ? factsOf(answer, row) : []))
  byId('reply').textContent = answer?.body ?? ''
  byId('reply').hidden = !answer
  byId('answer').scrollIntoView({ block: 'nearest' })
}

function renew(): void {
  byId('command').textContent = writeCurl(form.action, bodyInput.value)
}

/** An id that nobody has yet: 63 bits of chance. */
function chooseId(): void {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1))
  bodyInput.value = bodyInput.value.replace(ID_FIELD, `$1${bits >> 1n}`)
  renew()
}

let isSending = false

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  if (isSending) return
  isSending = true
  byId('answer').setAttribute('aria-busy', 'true')
  show(await send())
  byId('answer').removeAttribute('aria-busy')
  isSending = false
})
form.addEventListener('input', renew)
bodyInput.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
})
byId('new-id').addEventListener('click', chooseId)

const copy = byId<HTMLButtonElement>('copy')
// Over plain HTTP from another machine a page has no clipboard.
copy.hidden = !navigator.clipboard
copy.addEventListener('click', async () => {
  await navigator.clipboard.writeText(byId('command').textContent ?? '')
  copy.textContent = 'Copied'
  setTimeout(() => {
    copy.textContent = 'Copy'
  }, COPIED_MS)
})

chooseId()
for (const button of document.querySelectorAll('button')) button.disabled = false
