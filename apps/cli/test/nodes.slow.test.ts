import { describe, expect, test } from 'vitest'
import { findRuntimes } from '../../../packages/client/runtimes/runtimes.ts'
import { needs } from '../../../test/needs.ts'
import { ends } from './helpers/program.ts'
import { openImporter } from './import/importer.ts'

describe.each(findRuntimes().filter(({ kind }) => kind === 'node'))(
  'on $title',
  ({ title, program: node = '' }) => {
    test('the program runs, and reads Windows-1252', needs(title, node !== ''), async () => {
      const content = Buffer.from('id,name\n-5,Gr\xfcn \x80\n', 'latin1')
      const { run, env, server } = await openImporter(content)
      const options = { env, node }
      expect(await run('plants.csv --encoding windows-1252', options)).toEqual(ends(0))
      expect(server.readPlants()).toEqual(new Map([[-5n, { name: 'Grün €', tag: null }]]))
    })
  },
)
