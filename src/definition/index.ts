// definition: what the YAML of a project says: parsed, included, checked; every problem with its file, line and column.
// May import kit and contract. Pure: no database, no network, no code of the project. The only room that loads `yaml`.
export { checkDefinitionValue, type CheckedValue, type CheckValueOptions, type ValueProblem } from './check-value.ts'
export type { ClassCatalog } from './class-catalog.ts'
export type {
  ActionUse,
  ClassUse,
  Cronjob,
  Definition,
  EventDefinition,
  HttpMethod,
  Location,
  Method,
  PluginUse,
  Rate,
  Route,
  VariableUse,
} from './definition.ts'
export { addToDefinition, findKey, findMap, findValue, type Editing } from './edit-definition.ts'
export { makeEditorSchema } from './editor-schema.ts'
export { loadDefinition, type LoadedDefinition, type LoadOptions } from './load-definition.ts'
export { makeSourceCache, type Texts } from './loading.ts'
export { openFolder, readBytesInside, type Folder, type Refusal } from './read-file.ts'
export { Include, writeYaml, type Writable, type WritableMap } from './write-yaml.ts'
