import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { CliError, exitCodes } from './cli-error.ts'
import type { Terminal } from './terminal.ts'

/**
 * Asks a person a question and returns the line that they type, of which nothing is shown. Only where
 * `terminal.isInteractive`.
 * @throws CliError (`interrupted`) for Ctrl-C, Ctrl-D and a signal.
 */
export function askHidden(terminal: Terminal, question: string): Promise<string> {
  const lines = createInterface({
    input: terminal.input,
    output: new Writable({ write: (_chunk, _encoding, done) => done() }),
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
    terminal.draw(question)
    lines.question('', (answer) => {
      resolve(answer)
      lines.close()
    })
  }).finally(() => {
    terminal.stop.removeEventListener('abort', close)
    // The return key was not shown, or there was none.
    terminal.draw('\n')
  })
}
