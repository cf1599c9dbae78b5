import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { type Client, clients } from './clients.ts'

/** The languages of code blocks by the names of their files. */
const LANGUAGES: Readonly<Record<string, string>> = {
  '.csproj': 'xml',
  '.kt': 'kotlin',
  '.rs': 'rust',
}

const SHOWN_ARGUMENTS = '9223372036854775807 Fern'

function readShown(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8').replaceAll('"$@"', SHOWN_ARGUMENTS)
}

/** A text in which each line `{{FILE …}}` became a block of code with the files, in that order. */
function withFiles(folder: string, text: string): string {
  return text.replaceAll(/^\{\{(.+)\}\}$/gm, (_line, names: string) => {
    const files = names.split(' ')
    const extension = extname(files[0] ?? '')
    const language = LANGUAGES[extension] ?? extension.slice(1)
    return `\`\`\`${language}\n${files.map((file) => readShown(folder, file)).join('')}\`\`\``
  })
}

function cellsOf({ title, madeWith, refusal, remark }: Client): string[] {
  const anchor = title
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-')
  return [`[${title}](#${anchor})`, madeWith, refusal, remark]
}

function makeTable(head: readonly string[], rows: readonly string[][]): string {
  const widths = head.map((cell, column) =>
    Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ].join('\n')
}

/** `docs/clients.md`, put together from the folders of the clients. */
export function clientsPage(): string {
  const head = readFileSync(join(import.meta.dirname, 'head.md'), 'utf8')
  const columns = ['Client', 'Made with', 'Error read', 'Remark']
  const table = makeTable(columns, clients.map(cellsOf))
  const sections = clients.map(
    ({ title, folder }) =>
      `\n## ${title}\n\n${withFiles(folder, readFileSync(join(folder, 'page.md'), 'utf8'))}`,
  )
  return withFiles(import.meta.dirname, head.replace('{table}', table)) + sections.join('')
}
