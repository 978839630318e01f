import type { Action } from '../contract/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'

/** Where actions come from. */
export interface ActionSources {
  /** Default exports of the action artifacts, by hash. */
  readonly modules: ReadonlyMap<string, unknown>
  readonly classes: ReadonlyMap<string, { make(config: never): Action }>
  /** The config of a plugin's class, with its variables. */
  resolveConfig(config: Readonly<Record<string, unknown>>): unknown
}

/**
 * Finds the action of each method among the loaded artifacts and the classes of plugins; one instance a generation.
 * @throws WP_RUNTIME_ACTION_CLASS, WP_RUNTIME_ACTION_PLUGIN, or what a constructor throws
 */
export function makeActionFinder(sources: ActionSources): (method: ManifestMethod) => Action {
  const instances = new Map<string, Action>()
  return ({ action }) => {
    const key = JSON.stringify(action)
    const known = instances.get(key)
    if (known !== undefined) return known
    const made = makeAction(sources, action)
    instances.set(key, made)
    return made
  }
}

function makeAction({ modules, classes, resolveConfig }: ActionSources, action: ManifestMethod['action']): Action {
  if ('artifact' in action) {
    const Class = modules.get(action.artifact)
    // `handle = async () => …` is there only once the class was instantiated.
    const made = isClass(Class) ? new Class() : undefined
    if (typeof made?.handle === 'function') return made as Action
    throw errors.WP_RUNTIME_ACTION_CLASS({ file: action.file })
  }
  const known = classes.get(action.class)
  if (known !== undefined) return known.make(resolveConfig(action.config) as never)
  throw errors.WP_RUNTIME_ACTION_PLUGIN({ class: action.class, known: [...classes.keys()].join(', ') || 'none' })
}

function isClass(value: unknown): value is new () => Partial<Action> {
  return typeof value === 'function' && typeof value.prototype === 'object'
}
