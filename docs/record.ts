import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { recordImport } from './recording/import-recording.ts'
import { drawRecording } from './recording/svg.ts'
import { rerunTranscripts } from './recording/transcript.ts'
import { openWorkplace } from './recording/workplace.ts'

const BETWEEN_KEYS_MS = 60

const examples = new URL('../examples/plants/', import.meta.url)

/** Each is read in the folder of the examples, by somebody who begins with nothing stored. */
const documents = [new URL('README.md', examples), new URL('importing.md', import.meta.url)]

for (const document of documents) {
  const workplace = await openWorkplace()
  try {
    cpSync(examples, workplace.folder, { recursive: true })
    writeFileSync(document, rerunTranscripts(readFileSync(document, 'utf8'), workplace))
  } finally {
    await workplace.close()
  }
}

const recording = await recordImport(BETWEEN_KEYS_MS)
writeFileSync(new URL('import.svg', import.meta.url), drawRecording(recording))
