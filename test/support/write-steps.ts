export { writeStep } from '../../src/tables/index.ts'
