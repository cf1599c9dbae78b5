import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the lines of a transcript are run. */
export interface Place {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
}

/** The words without what differs from run to run: how long it took. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/\bin \d+(?::\d+)+/g, 'in 0:00')
}

/** What stands before a command; what the command says is below it. */
const PROMPT = '$ '

function run(command: string, { folder, environment }: Place): string {
  const { stdout, error } = spawnSync('/bin/sh', ['-c', `exec 2>&1; ${command}`], {
    cwd: folder,
    env: environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  if (error !== undefined) throw error
  return stdout
}

/** A transcript with what its commands say now, in order. There is no terminal, so none can ask. */
function rerun(transcript: string, place: Place): string {
  const commands = transcript.split('\n').filter((line) => line.startsWith(PROMPT))
  const said = commands.map((line) => `${line}\n${run(line.slice(PROMPT.length), place)}`)
  // A byte order mark is nothing that a reader sees.
  return withoutTimes(said.join('').replaceAll('\uFEFF', ''))
}

/** The name of the file that a transcript ends with showing. */
const SHOWN = /^\$ cat (\S+)\n(?!.*^\$ )/ms

/**
 * A document with what the commands of its transcripts say now, in order. A block of CSV is the file
 * that was shown before it, as a person has corrected it: it takes that file's place.
 */
export function rerunTranscripts(document: string, place: Place): string {
  let shown: string | undefined
  return document.replaceAll(
    /(?<=^```(console|csv)\n).*?(?=^```$)/gms,
    (block, language: string) => {
      if (language === 'csv' && shown !== undefined) writeFileSync(join(place.folder, shown), block)
      if (!block.startsWith(PROMPT)) return block
      const said = rerun(block, place)
      shown = SHOWN.exec(said)?.[1]
      return said
    },
  )
}
