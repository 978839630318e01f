import type { TypesOptions } from '../../src/build/index.ts'

export const at = { file: 'waypost.yml', line: 1, column: 1 }
export const system: TypesOptions = { tables: { System: true }, clientTypes: {} }
