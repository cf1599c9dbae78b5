import { join } from 'node:path'
import ts from 'typescript-5.9'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createProject, type Project, pack, pathOf } from './packages.ts'

let project: Project

beforeAll(() => {
  project = createProject((folder) => [pack(pathOf('..'), folder)])
})

afterAll(() => project[Symbol.dispose]())

/** By the last compiler that can be called as a library: every name that an entry exports, and every member of it that the entry itself declares. */
function* membersOf(file: string): Generator<readonly [string, string]> {
  const { NodeNext } = ts.ModuleKind
  const program = ts.createProgram([file], { strict: true, module: NodeNext, types: [] })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const entry = source && checker.getSymbolAtLocation(source)
  if (source === undefined || entry === undefined) throw new Error(`${file} is no module`)
  const textOf = (symbol: ts.Symbol) =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker))
  for (const exported of checker.getExportsOfModule(entry)) {
    yield [exported.name, textOf(exported)]
    const type = checker.getDeclaredTypeOfSymbol(exported)
    for (const part of type.isUnion() ? type.types : [type]) {
      for (const member of checker.getPropertiesOfType(part)) {
        const isOwn = member.declarations?.some((node) => node.getSourceFile() === source)
        if (isOwn && !member.name.startsWith('__@')) {
          yield [`${exported.name}.${member.name}`, textOf(member)]
        }
      }
    }
  }
}

describe('the declarations', () => {
  test.each([
    ['index', 'PlantStoreClientOptions.timeoutMs', 120],
    ['rest', 'createRestClient', 3],
  ])('of %s have a comment for each export and each member', (name, one, atLeast) => {
    const file = join(project.folder, `node_modules/@plant-store/client/dist/${name}.d.ts`)
    const members = Array.from(membersOf(file))
    expect(members.map(([path]) => path)).toContain(one)
    expect(members.length).toBeGreaterThan(atLeast)
    expect(members.filter(([, text]) => text === '').map(([path]) => path)).toEqual([])
  })

  test('name the unit, the default and the errors of each option', () => {
    const file = join(project.folder, 'node_modules/@plant-store/client/dist/index.d.ts')
    const options = Array.from(membersOf(file)).filter(([path]) => /Options\./.test(path))
    expect(options.length).toBeGreaterThan(20)
    expect(options.filter(([, text]) => !text.includes('Default:'))).toEqual([])
    const times = options.filter(([path]) => path.endsWith('Ms'))
    expect(times.filter(([, text]) => !text.includes('milliseconds'))).toEqual([])
  })
})

/** Where a caller points, before the sign ^, and what the editor shows there. */
const HOVERS: readonly (readonly [code: string, shown: string])[] = [
  ['createPlantStoreClient({ timeoutMs^: 5 })', 'in milliseconds, above 0'],
  ['createPlantStoreClient({ totalTimeoutMs^: 5 })', 'Default: 60,000'],
  ['createPlantStoreClient({ maxRetries^: 5 })', 'Requests after the first'],
  ['createPlantStoreClient({ baseUrl^: "" })', 'invalid_base_url'],
  ['createPlantStoreClient().createPlant({ id^: 7, name: "Fern" })', 'identification number'],
  ['createPlantStoreClient().createPlant({ id: 7, name^: "Fern" })', 'name of the plant'],
  ['createPlantStoreClient().createPlant({ id: 7, name: "", tag^: "" })', 'type of the plant'],
  ['createPlantStoreClient().createPlant({ id: 7, name: "" }, { timeoutMs^: 1 })', '10,000'],
  ['(await createPlantStoreClient().createPlant({ id: 7, name: "" })).name^', 'name of the plant'],
  ['createPlantStoreClient().checkToken^()', 'stores nothing'],
]

test.each(HOVERS)('an editor says of %s: %s', (code, shown) => {
  const text = `import { createPlantStoreClient } from '@plant-store/client'\n${code.replace('^', '')}`
  const file = join(project.folder, 'hover.ts')
  const read = (path: string) => (path === file ? text : ts.sys.readFile(path))
  const options = { strict: true, module: ts.ModuleKind.NodeNext, types: [] }
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(path) {
      const content = read(path)
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
    },
    getCurrentDirectory: () => project.folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => read(path) !== undefined,
    readFile: read,
  })
  const position = text.length - (code.length - code.indexOf('^'))
  const hover = service.getQuickInfoAtPosition(file, position)
  expect(ts.displayPartsToString(hover?.documentation)).toContain(shown)
})
