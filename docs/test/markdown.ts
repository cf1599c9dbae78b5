import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Every document of the project, as its path from the root. */
export const documents = globSync('{*.md,{docs,packages/*,apps/*,examples/*}/*.md}', { cwd: root })

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

export interface Block {
  readonly document: string
  /** What follows the opening fence: the language. */
  readonly language: string
  readonly text: string
}

/** The fenced blocks of a document, in order. */
export function blocksOf(document: string): Block[] {
  const fence = /^```(\w*)\n(.*?)^```$/gms
  return [...read(document).matchAll(fence)].map(([, language = '', text = '']) => ({
    document,
    language,
    text,
  }))
}

/** The first block of a document that holds a text. */
export function blockWith(document: string, text: string): Block {
  const block = blocksOf(document).find((candidate) => candidate.text.includes(text))
  if (block === undefined) throw new Error(`${document} has no block with ${text}`)
  return block
}

/** The first cells of the table rows whose first cell begins with a text. */
export function rowsOf(document: string, beginning: RegExp): string[][] {
  return read(document)
    .split('\n')
    .filter((line) => line.startsWith('| ') && beginning.test(line.slice(2)))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}
