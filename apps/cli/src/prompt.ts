import { createInterface } from 'node:readline'
import { CliError, exitCodes } from './cli-error.ts'
import type { Terminal } from './terminal.ts'

/**
 * Asks a person a question and returns the line that they type, without blanks around it; nothing of
 * it is shown where it is hidden. Only where `terminal.isInteractive`.
 * @throws CliError (`interrupted`) for Ctrl-C, Ctrl-D and a signal.
 */
export async function ask(
  terminal: Terminal,
  question: string,
  { isHidden = false } = {},
): Promise<string> {
  const lines = createInterface({
    input: terminal.input,
    // Without it the terminal itself shows what is typed.
    terminal: isHidden,
    historySize: 0,
  })
  const close = () => lines.close()
  terminal.stop.addEventListener('abort', close)
  let answer: string | undefined
  await new Promise<void>((resolve) => {
    lines.once('SIGINT', close)
    lines.once('close', resolve)
    terminal.draw(question)
    lines.question('', (typed) => {
      answer = typed
      lines.close()
    })
  })
  terminal.stop.removeEventListener('abort', close)
  // The return key was not shown, or there was none.
  if (isHidden || answer === undefined) terminal.draw('\n')
  if (answer !== undefined) return answer.trim()
  throw new CliError('interrupted; nothing was done', exitCodes.interrupted)
}
