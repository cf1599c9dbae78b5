import type { Column, Delimiter, Dialect } from './dialect.ts'

const encodingNames = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16LE',
  'utf-16be': 'UTF-16BE',
  'windows-1252': 'Windows-1252',
} as const

/** `";"`, `tab` */
export function describeDelimiter(delimiter: Delimiter): string {
  return delimiter === '\t' ? 'tab' : `"${delimiter}"`
}

/** `CSV ";", Windows-1252, columns ID→id, name; passed over: Price` */
export function describeDialect(dialect: Dialect): string {
  const { delimiter, encoding, columns, isGzip, isRejects, hasHeader } = dialect
  const used = columns.filter(({ field }) => field !== undefined)
  const unused = columns.filter(({ field, name }) => !field && !(isRejects && name.startsWith('_')))
  // Columns without names are called by their numbers.
  const nameOf = ({ name }: Column) => (hasHeader ? name : name.replace(/^column /, ''))
  const names = used.map((column) => {
    return column.name === column.field ? column.name : `${nameOf(column)}→${column.field}`
  })
  const parts = [
    delimiter === undefined ? 'JSON lines' : `CSV ${describeDelimiter(delimiter)}`,
    ...(isGzip ? ['gzip'] : []),
    encodingNames[encoding],
    ...(isRejects ? ['rejects of an import'] : []),
    ...(names.length === 0 ? [] : [`columns ${names.join(', ')}`]),
  ]
  const passedOver = unused.map(nameOf).join(', ')
  return parts.join(', ') + (passedOver === '' ? '' : `; passed over: ${passedOver}`)
}
