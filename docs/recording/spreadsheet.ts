import { writeFileSync } from 'node:fs'

const KINDS = [
  'Gänseblümchen',
  'Löwenzahn',
  'Frauenmantel',
  'Schlüsselblume',
  'Lavendel',
  'Weißdorn',
  'Salbei',
  'Hirschzungenfarn',
]
const TAGS = ['Wiese', 'Schatten', 'Kräuter', 'Bäume', '']

/** What went wrong in the spreadsheet, by its line. */
const MISTAKES: ReadonlyMap<number, string> = new Map([
  [2_712, '12711;;Wiese'],
  [5_001, '1,23457E+18;Baumfarn;Schatten'],
  [7_346, '10001;Pfefferminze;Kräuter'],
  [10_503, '20,502;Fingerhut;Schatten'],
])

/**
 * Plants as Excel saves them in Europe, with semicolons and in Windows-1252. No line names the
 * columns, which the command line asks about.
 */
export function writeSpreadsheet(path: string, plants: number): void {
  const lines = Array.from({ length: plants }, (_, index) => {
    const plant = `${10_001 + index};${KINDS[index % KINDS.length]} ${index + 1};${TAGS[index % TAGS.length]}`
    return MISTAKES.get(index + 1) ?? plant
  })
  // Its letters are in Latin-1, of which Windows-1252 is an extension.
  writeFileSync(path, `${lines.join('\r\n')}\r\n`, 'latin1')
}
