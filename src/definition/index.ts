// definition: the YAML of a project: parsed, included and checked. Each problem has its file, line and column.
// May import kit, contract, schema and tables. Pure: no database, no network, no project code. The only room that loads `yaml`.
export { checkDefinitionValue, type CheckedValue, type CheckValueOptions, type ValueProblem } from './check-value.ts'
export type { ClassCatalog } from './class-catalog.ts'
export type {
  ActionUse,
  ClassUse,
  Cronjob,
  Definition,
  EventDefinition,
  HttpMethod,
  Listener,
  Location,
  MediaType,
  Method,
  PluginUse,
  Rate,
  Route,
  RouteStep,
  StaticFolder,
  VariableUse,
} from './definition.ts'
export type { ActionToDescribe, DescribeActions, DescribedAction } from './describe-actions.ts'
export { editDefinition, setInDefinition, type Edit, type EditedFiles } from './edit/edit-definition.ts'
export { EditRefused } from './edit/edit-refused.ts'
export { findKey, findValue, type FoundEntry } from './edit/find-value.ts'
export { listReachedFiles } from './edit/references.ts'
export { openEditing, type Editing } from './edit/editing.ts'
export {
  listOverwritten,
  mergeDefinitions,
  takeChanges,
  type MergeConflict,
  type Merged,
  type OverwrittenPlace,
  type PreferredSide,
  type TakenChanges,
  type Versions,
} from './edit/merge-definitions.ts'
export { listDifferences, makeDifferenceCache, type Difference, type DifferenceCache } from './edit/list-differences.ts'
export { listUses, rename, type Renamed, type Use } from './edit/rename.ts'
export { addColumns, type AddedColumn, type ColumnPlace } from './edit/add-columns.ts'
export { addValues, type NewValues } from './edit/add-values.ts'
export {
  findColumnUses,
  renameColumns,
  type ColumnUse,
  type LostUse,
  type TableColumns,
} from './edit/rename-columns.ts'
export { findSecrets, hideSecrets } from './check-literal-secrets.ts'
export { findEntryText, findIncludes, findPlaces, findPointers, type EntryText } from './locate-entries.ts'
export { editorSchemaFiles, makeEditorSchema, type ConfigSchemas } from './editor-schema.ts'
export { locateDefinition, type InheritedKeys, type LocatedDefinition } from './locate-definition.ts'
export { loadDefinition, type LoadedDefinition, type LoadOptions } from './load-definition.ts'
export { copySources, hasTooManyParts, makeSourceCache, type SourceCache, type Texts } from './load-context.ts'
export { parseMigration, type DeclaredMigration } from './parse-migration.ts'
export { openFolder, readProjectBytes, readProjectFile, type ProjectFolder, type FileProblem } from './read-file.ts'
export { writeMigration } from './write-migration.ts'
export { approveBuilds } from './approve-builds.ts'
export { parse as parseYaml } from 'yaml'
export { Include, isWritableMap, writeYaml, type Writable, type WritableMap } from './write-yaml.ts'
