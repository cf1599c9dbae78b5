import {
  type Encoding,
  encodings,
  parseDelimiter,
  parseMapping,
  type ReadOptions,
} from '@plant-store/plant-files'
import { type Command, InvalidArgumentError, Option } from 'commander'

/** How a file is to be read, as its flags say it. */
export interface ReadFlags {
  readonly format?: 'csv' | 'jsonl'
  readonly delimiter?: Exclude<ReadOptions['delimiter'], undefined>
  readonly encoding?: Encoding
  /** False where --no-header was given. */
  readonly header: boolean
  readonly map?: Exclude<ReadOptions['columns'], undefined>
}

function readDelimiter(text: string): ReadFlags['delimiter'] {
  const delimiter = parseDelimiter(text)
  if (delimiter === undefined) throw new InvalidArgumentError('Try: comma, semicolon or tab')
  return delimiter
}

function readMapping(text: string, earlier: ReadFlags['map'] = {}): ReadFlags['map'] {
  const mapping = parseMapping(text)
  if (mapping === undefined) throw new InvalidArgumentError('Try: --map "Plant No=id"')
  return { ...earlier, [mapping[0]]: mapping[1] }
}

/** Gives a command the flags that say how a file is written, for what cannot be found out. */
export function addReadFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--format <name>',
        'jsonl or csv (default: by its ending and its content)',
      ).choices(['jsonl', 'csv']),
    )
    .option(
      '--delimiter <character>',
      'between the fields of csv: comma, semicolon or tab',
      readDelimiter,
    )
    .addOption(new Option('--encoding <name>', encodings.join(', ')).choices(encodings))
    .option('--no-header', 'the first line of csv is a plant')
    .option(
      '--map <column=field>',
      'the field of a column, such as "Plant No=id" or 1=id',
      readMapping,
    )
}

export function toReadOptions(
  { format, delimiter, encoding, header, map }: ReadFlags,
  limitBytes: number,
): ReadOptions {
  return {
    format,
    delimiter,
    encoding,
    hasHeader: header ? undefined : false,
    columns: map,
    limitBytes,
    limitFlag: '--body-limit-bytes',
  }
}
