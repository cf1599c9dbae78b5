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

/** `plant-store import plants.csv --no-header`: with the flags that were given, apart from some. */
export function toCommandLine(
  command: Command,
  file: string,
  except: readonly string[] = [],
): string {
  const flags = command.options.flatMap((option) => {
    const name = option.attributeName()
    const isGiven = command.getOptionValueSource(name) === 'cli'
    if (!isGiven || except.includes(name) || option.long === undefined) return []
    return toWords(option.long ?? '', command.getOptionValue(name))
  })
  return ['plant-store', command.name(), file, ...flags].map(quote).join(' ')
}
