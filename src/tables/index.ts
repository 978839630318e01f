// tables: the tables of a connection as data: the snapshot in tables.json, the steps of declared migrations, the
// snapshot after them, and their SQL for each database. Pure: no files, no databases.
// May import kit and contract.
export { applySteps, type AppliedSteps } from './apply-steps.ts'
export { checkDefault } from './check-default.ts'
export { checkTypeParts } from './check-type.ts'
export { designTable, type DesignedColumn, type DesignProblem, type TableDesign } from './design.ts'
export { amendSteps, describeLosses } from './plan-design.ts'
export { orderColumns } from './order-columns.ts'
export { nameMigration } from './name-migration.ts'
export { isCovered, isWrittenForm, parseSnapshot, writeSnapshot, type Snapshot } from './snapshot.ts'
export type { StepProblem } from './step-context.ts'
export { checkSuffixes, isCheckOf, maxPrecision, nameCheck, readEnumValues } from './column-checks.ts'
export { readSearch } from './search.ts'
export { findEnumCheck, rewriteColumn, type ColumnParts } from './rewrite-column.ts'
export type { ColumnChange, ColumnDeclaration, Step, TableDeclaration } from './steps.ts'
export {
  changeValues,
  describeBreaking,
  describeRewrites,
  partsOfChange,
  revertSteps,
  sqliteDecimal,
  usualNames,
  writeStep,
  type EnumCheck,
  type IndexNames,
} from './write-steps.ts'
export { writeMermaid } from './write-mermaid.ts'
