import { ROOT, readRoot } from '../../../../test/root.ts'

/** The flags of a command line that stand before the program, so that they are Node's. */
export function nodeFlagsOf(command: string): string[] {
  const [beforeProgram = ''] = command.split(/\S*\/main\.js/)
  const [, ...words] = beforeProgram.split(/\bnode\s/)
  return words.at(-1)?.match(/(?<=\s|^)--?[a-z][\w-]*(?:=\S+)?/g) ?? []
}

/** How the unit starts the server. */
export function unitCommand(): string {
  const [, command = ''] =
    /^ExecStart=((?:.*\\\n)*.*)$/m.exec(readRoot('operations/plant-store.service')) ?? []
  return command
}

/** Node 24 has no such permission, and Node 25 and later asks for it. */
const NET = '--allow-net'

/** The flags of the unit, with this clone as the program's folder and `data` as that of the data. */
export function unitNodeFlags(data: string): string[] {
  const flags = nodeFlagsOf(unitCommand())
  const all = process.allowedNodeEnvironmentFlags.has(NET) ? [...flags, NET] : flags
  return all.map((flag) =>
    flag.replace('/opt/plant-store/', `${ROOT}/`).replace('/var/lib/plant-store/', `${data}/`),
  )
}
