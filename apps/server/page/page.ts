import { AUTHORIZATION_SCHEME, type NewPlant } from '@plant-store/contract'
import { byId } from '../overview/element.ts'
import { type Lesson, lessons } from './lessons.ts'
import { chooseId, readPlant, writePlantInLines } from './plant.ts'
import { startPrograms } from './programs.ts'
import { type Request, send } from './send.ts'
import { showAnswer, showWaiting } from './show-answer.ts'

const FIRST_PLANT = { name: 'Fern', tag: 'indoor' }

const tokenInput = byId('token') as HTMLInputElement
const bodyInput = byId('body') as HTMLTextAreaElement
const buttons = new Map(
  lessons.map((lesson) => [lesson, byId(`lesson-${lesson.id}`) as HTMLButtonElement]),
)

let isSending = false
let stored: NewPlant | undefined

/** What is typed, as it can be sent: a lone surrogate has no UTF-8, and fetch replaces it too. */
function readInput() {
  return { token: tokenInput.value.trim(), body: bodyInput.value.toWellFormed() }
}

function readRequest(): Request {
  const { token, body } = readInput()
  return { body, authorization: token ? `${AUTHORIZATION_SCHEME} ${token}` : undefined }
}

/** Of the service that serves this page, also behind a prefix. */
const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')
const programs = startPrograms(baseUrl, readInput)

function write(body: string): void {
  bodyInput.value = body
  programs.renew()
}

function enableLessons(): void {
  for (const [{ needsStored }, button] of buttons) button.disabled = needsStored === true && !stored
}

async function run(request: Request, lesson?: Lesson): Promise<void> {
  // No header can hold a token with characters beyond ASCII.
  if (isSending || !tokenInput.reportValidity()) return
  isSending = true
  showWaiting()
  const { token } = readInput()
  const answer = await send(baseUrl, request)
  const { verdict } = showAnswer(request, answer, { lesson, token })
  isSending = false
  if (verdict === 'Stored' || verdict === 'Already there') stored = readPlant(request.body)
  enableLessons()
  byId('answer').scrollIntoView({ block: 'nearest' })
}

function startForm(): void {
  const form = byId('form') as HTMLFormElement
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    void run(readRequest())
  })
  form.addEventListener('input', programs.renew)
  bodyInput.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
  const newId = byId('new-id') as HTMLButtonElement
  newId.addEventListener('click', () => {
    write(writePlantInLines({ ...(readPlant(bodyInput.value) ?? FIRST_PLANT), id: chooseId() }))
  })
  newId.disabled = false
  ;(byId('send') as HTMLButtonElement).disabled = false
}

function startLessons(): void {
  for (const [lesson, button] of buttons) {
    button.addEventListener('click', () => {
      const nobody = { id: chooseId(), ...FIRST_PLANT }
      const request = lesson.make({ request: readRequest(), stored: stored ?? nobody })
      write(request.body)
      button.dataset.seen = 'true'
      void run(request, lesson)
    })
  }
  enableLessons()
}

write(writePlantInLines({ id: chooseId(), ...FIRST_PLANT }))
startLessons()
startForm()
