export { parseSnapshot, writeSnapshot, writeStep, type ColumnDeclaration, type Step } from '../../src/tables/index.ts'
