import type { Command } from 'commander'

const SAFE = /^[\w%+,./:=@-]+$/

/** A word as a POSIX shell reads it back (POSIX.1-2024, 2.2.2). */
function quote(word: string): string {
  return SAFE.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function toWords(flag: string, value: unknown): string[] {
  if (typeof value === 'boolean') return [flag]
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.flatMap((one) => [flag, String(one)])
}

/** Flags that a file of rejects has no use for: it is read without any. */
const OF_ONE_FILE = ['format', 'delimiter', 'encoding', 'header', 'map']

/** Flags of one run: its rejects are there now. */
const OF_ONE_RUN = ['rejects', 'fromRow']

/**
 * `plant-store import plants.csv --no-header`: with the flags that were given, for the same file from
 * a row on, or for a file of rejects.
 */
export function toCommandLine(
  command: Command,
  file: string,
  same?: { readonly fromRow: number | undefined },
): string {
  const except = same === undefined ? [...OF_ONE_RUN, ...OF_ONE_FILE] : OF_ONE_RUN
  const flags = command.options.flatMap((option) => {
    const name = option.attributeName()
    const isGiven = command.getOptionValueSource(name) === 'cli'
    if (!isGiven || except.includes(name) || option.long === undefined) return []
    return toWords(option.long ?? '', command.getOptionValue(name))
  })
  const from = same?.fromRow === undefined ? [] : ['--from-row', String(same.fromRow)]
  return ['plant-store', command.name(), file, ...flags, ...from].map(quote).join(' ')
}
