import { parseArgs } from 'node:util'
import { measureMemory } from './measure-memory.ts'

/** Measures the memory that a million plants take, beside that of fetch alone. */
const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const rows = Number(values.rows)
console.table([await measureMemory('bare fetch', rows), await measureMemory('createPlants', rows)])
