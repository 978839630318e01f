// definition: what the YAML of a project says: parsed, included, checked; every problem with its file, line and column.
// May import kit and contract. Pure: no database, no network. The only room that loads `yaml`.
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
} from './definition.ts'
