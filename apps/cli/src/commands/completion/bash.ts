import type { CommandWord, Value } from './words.ts'

/** What completes a value; `$word` is never evaluated, whatever was typed. */
function completeValue(value: Value): string {
  if (value === 'file') return '_plant_store_files'
  if (typeof value === 'string') return ':'
  return `_plant_store_words "${value.join(' ')}"`
}

function casesOfFlags({ name, flags }: CommandWord): string[] {
  const withValue = flags.filter(({ value }) => value !== 'nothing')
  return withValue.map(
    ({ long, value }) => `    ${name}:${long}) ${completeValue(value)}; return ;;`,
  )
}

function caseOfDash({ name, flags }: CommandWord): string {
  return `    ${name}:-*) _plant_store_words "${flags.map(({ long }) => long).join(' ')}"; return ;;`
}

function caseOfArgument({ name, argument }: CommandWord): string {
  return `    ${name}:*) ${completeValue(argument)} ;;`
}

/** A script for bash, from 3.2 on. It needs no other program, and runs none. */
export function bashScript(commands: readonly CommandWord[]): string {
  return `# bash completion for plant-store

_plant_store_words() {
  COMPREPLY=($(compgen -W "$1" -- "$word"))
}

_plant_store_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen -f -- "$word"))
}

_plant_store() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  local before="\${COMP_WORDS[COMP_CWORD - 1]}"
  local command="\${COMP_WORDS[1]}"
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    _plant_store_words "${commands.map(({ name }) => name).join(' ')} --help --version"
    return
  fi
  case "$command:$before" in
${commands.flatMap(casesOfFlags).join('\n')}
  esac
  case "$command:$word" in
${commands.flatMap((command) => [caseOfDash(command), caseOfArgument(command)]).join('\n')}
  esac
}

complete -F _plant_store plant-store
`
}
