import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startServerProcess } from '../../test/server-process.ts'
import { temporaryFolder } from '../../test/temporary-folder.ts'
import { blocksOf, documents, read, root } from './markdown.ts'

/** What stands before a command; what the command says is below it. */
const PROMPT = '$ '

/** Where the lines of a transcript are run. */
interface Place {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** A person with the examples, a login, and a plant store that has nothing. */
async function openPlace(): Promise<Place> {
  const server = await startServerProcess()
  const home = temporaryFolder()
  const folder = join(home, 'plants')
  cpSync(join(root, 'examples/plants'), folder, { recursive: true })
  const programs = join(home, 'programs')
  mkdirSync(programs)
  symlinkSync(join(root, 'apps/cli/dist/main.js'), join(programs, 'plant-store'))
  const env = {
    PATH: [programs, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter),
    HOME: home,
    LANG: 'C.UTF-8',
    PLANT_STORE_BASE_URL: server.url,
    PLANT_STORE_TOKEN: server.token,
  }
  return { folder, env }
}

/** What a command prints. There is no terminal, so it cannot ask. */
function run(command: string, { folder, env }: Place): string {
  const args = ['-c', `exec 2>&1; ${command}`]
  const { stdout } = spawnSync('/bin/sh', args, { cwd: folder, env, encoding: 'utf8' })
  // Durations differ from run to run. A byte order mark is nothing that a reader sees.
  return stdout.replaceAll(/\bin \d+(?::\d+)+/g, 'in 0:00').replaceAll('\uFEFF', '')
}

/** The name of the file that a transcript ends with showing. */
const SHOWN = /^\$ cat (\S+)\n(?!.*^\$ )/ms

/**
 * A document with what the commands of its transcripts say now, in order. A block of CSV is the file
 * that was shown before it, as a person has corrected it: it takes that file's place.
 */
function rerunTranscripts(document: string, place: Place): string {
  let shown: string | undefined
  const blocks = /(?<=^```(console|csv)\n).*?(?=^```$)/gms
  return document.replaceAll(blocks, (block, language: string) => {
    if (language === 'csv' && shown !== undefined) writeFileSync(join(place.folder, shown), block)
    if (!block.startsWith(PROMPT)) return block
    const commands = block.split('\n').filter((line) => line.startsWith(PROMPT))
    const said = commands
      .map((line) => `${line}\n${run(line.slice(PROMPT.length), place)}`)
      .join('')
    shown = SHOWN.exec(said)?.[1]
    return said
  })
}

/** Those whose files are the examples. */
const transcribed = documents.filter(
  (path) =>
    /^(?:docs|examples)\//.test(path) &&
    blocksOf(path).some(({ language, text }) => language === 'console' && text.startsWith(PROMPT)),
)

test.each(transcribed)(
  'each command in %s says what is written; `vitest -u` renews it',
  async (path) => {
    expect(transcribed).not.toEqual([])
    const said = rerunTranscripts(read(path), await openPlace())
    await expect(said).toMatchFileSnapshot(join(root, path))
  },
)
