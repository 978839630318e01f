import type { JsonSchema } from '../contract/index.ts'

/**
 * The classes that a definition may name, by name. The records of connection and action classes of a plugin fit; who
 * has loaded the plugins passes them.
 */
export interface ClassCatalog {
  readonly connections: Readonly<Record<string, ClassDescription>>
  readonly actions: Readonly<Record<string, ClassDescription>>
}

export interface ClassDescription {
  /** What its config must be. */
  readonly config: JsonSchema
}
