// build: definition and sources → release, and the types of a project.
// May import kit, contract, schema, tables, plugin, definition and release. The only room that loads esbuild, and only when it builds.
export { buildRelease } from './build-release.ts'
export { checkModules } from './check-modules.ts'
export { checkSources } from './check-sources.ts'
export { openBaseBuilder, type Base, type BaseBuilder, type LoadedTexts } from './base-builder.ts'
export { loadDescribed } from './load-described.ts'
export { openMigrationFiles, type MigrationFiles, type MigrationSource } from './load-migrations.ts'
export {
  kindsOfConnections,
  loadTables,
  loadTablesBefore,
  type ConnectionKinds,
  type LoadedTables,
} from './load-tables.ts'
export { applyEdits, GenerateBroken, GenerateRefused, publicRate, publicRateValue } from './table-api/generate.ts'
export { planTableApi, type PlannedApi } from './table-api/plan-table-api.ts'
export type { ParentTable } from './table-api/list-parents.ts'
export type { TablePlan } from './table-api/plan-table.ts'
export type { TableRequest } from './table-api/table-request.ts'
export { makeTypes, type TypesOptions } from './make-types.ts'
export { openBuilder, type Builder } from './open-builder.ts'
export { openPluginBuilder, type BuiltPlugin, type PluginBuilder } from './plugins/build-plugins.ts'
export { openPluginProcess, type PluginProcess } from './plugins/plugin-process.ts'
export { collectConfigSchemas, writeEditorSchemas } from './write-editor-schemas.ts'
export { writeTypes, type WrittenTypes } from './write-types.ts'
