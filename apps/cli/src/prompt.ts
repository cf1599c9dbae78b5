import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CliError } from './cli-error.ts'
import { exitCodes } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

/** Where readline shows what is typed: on the terminal, or nowhere. */
function openEcho(terminal: Terminal, isHidden: boolean): Writable {
  const echo = new Writable({
    write(chunk, _encoding, done) {
      if (!isHidden) terminal.draw(String(chunk))
      done()
    },
  })
  return Object.defineProperty(echo, 'columns', { get: () => terminal.columns })
}

function readAnswer(terminal: Terminal, question: string, isHidden: boolean): Promise<string> {
  const lines = createInterface({
    input: terminal.input,
    output: openEcho(terminal, isHidden),
    terminal: true,
    historySize: 0,
  })
  const close = () => lines.close()
  terminal.stop.addEventListener('abort', close)
  return new Promise<string>((resolve, reject) => {
    lines.once('SIGINT', close)
    lines.once('close', () => {
      // After an answer this changes nothing.
      reject(new CliError('interrupted; nothing was done', exitCodes.interrupted))
    })
    const shown = terminal.render(question)
    if (isHidden) terminal.draw(shown)
    lines.question(isHidden ? '' : shown, (answer) => {
      resolve(answer)
      lines.close()
    })
  }).finally(() => {
    terminal.stop.removeEventListener('abort', close)
    // The return key was not shown, or there was none.
    if (isHidden) terminal.draw('\n')
  })
}

/**
 * Asks a person a question and returns the line that they type, without its end. Only where
 * `terminal.isInteractive`.
 * @throws CliError (`interrupted`) for Ctrl-C, Ctrl-D and a signal.
 */
export function ask(terminal: Terminal, question: string): Promise<string> {
  return readAnswer(terminal, question, false)
}

/** The same for a secret: nothing of what is typed or pasted is shown. */
export function askHidden(terminal: Terminal, question: string): Promise<string> {
  return readAnswer(terminal, question, true)
}
