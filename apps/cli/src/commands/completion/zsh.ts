import type { CommandWord, FlagWord, Value } from './words.ts'

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** A text within the brackets or between the colons of a specification. */
function escapeText(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&')
}

function actionOf(value: Value): string {
  if (value === 'file') return '_files'
  // Without a list a message would stand in its place, and keep a single flag from being completed.
  return typeof value === 'string' ? '()' : `(${value.join(' ')})`
}

function specificationOf({ about, isRepeatable, long, short, value }: FlagWord): string[] {
  const suffix = value === 'nothing' ? '' : `:value:${actionOf(value)}`
  const repeats = isRepeatable ? '*' : ''
  return [long, short].flatMap((flag) =>
    flag === undefined ? [] : [quote(`${repeats}${flag}[${escapeText(about)}]${suffix}`)],
  )
}

function caseOf({ argument, flags, name }: CommandWord): string {
  const rest = argument === 'nothing' ? [] : [quote(`*:argument:${actionOf(argument)}`)]
  const specifications = [...flags.flatMap(specificationOf), ...rest]
  return `    ${name})
      _arguments \\
        ${specifications.join(' \\\n        ')}
      ;;`
}

/** A script for zsh, as a file on its fpath or sourced. */
export function zshScript(commands: readonly CommandWord[]): string {
  const described = commands.map(
    ({ about, name }) => `    ${quote(`${name}:${escapeText(about)}`)}`,
  )
  return `#compdef plant-store

_plant-store() {
  local -a commands
  commands=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map(caseOf).join('\n')}
  esac
}

if [ "$funcstack[1]" = _plant-store ]; then
  _plant-store "$@"
else
  compdef _plant-store plant-store
fi
`
}
