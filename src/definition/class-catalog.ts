import type { ActionClass, ConnectionClass, JsonSchema } from '../contract/index.ts'

/**
 * The classes that a definition may name, by name. Matches the records of connection and action classes of a plugin;
 * the caller loads the plugins.
 */
export interface ClassCatalog {
  readonly connections: Readonly<Record<string, ConnectionClassDescription>>
  readonly actions: Readonly<Record<string, ActionClassDescription>>
  readonly steps?: Readonly<Record<string, ClassDescription>>
  /** Built plugins, as listed in `plugins:`. */
  readonly plugins?: Readonly<Record<string, ClassDescription>>
}

export interface ClassDescription {
  /** The schema of its config. */
  readonly config: JsonSchema
}

interface ConnectionClassDescription extends ClassDescription, Pick<ConnectionClass, 'capabilities' | 'migrations'> {}

interface ActionClassDescription extends ClassDescription, Pick<ActionClass, 'routesOnly'> {}
