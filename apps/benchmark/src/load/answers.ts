export interface Answer {
  readonly status: number
  readonly body: string
}

const HEAD_END = '\r\n\r\n'
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i

/**
 * Takes an answer apart; undefined while it is not whole.
 * @throws when it does not say how long its body is.
 */
export function parseAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const length = CONTENT_LENGTH.exec(text)?.[1]
  if (length === undefined) throw new Error(`no content-length in ${text.slice(0, headEnd)}`)
  const bodyStart = headEnd + HEAD_END.length
  if (text.length < bodyStart + Number(length)) return undefined
  return { status: Number(text.slice(9, 12)), body: text.slice(bodyStart) }
}
