import type { Action, ActionClass } from '../contract/index.ts'
import type { ManifestMethod } from '../release/index.ts'
import { errors } from './errors.ts'

/** The sources of actions. */
export interface ActionSources {
  /** Default exports of the action artifacts, by hash. */
  readonly modules: ReadonlyMap<string, unknown>
  /** Action classes of plugins, by name. */
  readonly classes: ReadonlyMap<string, ActionClass>
  /** Resolves the variables of a config and checks it against the schema of its class. */
  prepareConfig(
    schema: object,
    config: Readonly<Record<string, unknown>>,
  ): { readonly config: unknown } | { readonly missing: readonly string[] } | { readonly problem: string }
}

/**
 * Finds the action of each method and cronjob among the loaded artifacts and the classes of plugins. Creates one
 * instance per generation.
 * @throws WP_RUNTIME_ACTION_CLASS, WP_RUNTIME_ACTION_PLUGIN, WP_RUNTIME_ACTION_CONFIG, or any error of a constructor
 */
export function makeActionFinder(sources: ActionSources): (user: Pick<ManifestMethod, 'action'>) => Action {
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

function makeAction({ modules, classes, prepareConfig }: ActionSources, action: ManifestMethod['action']): Action {
  if ('artifact' in action) {
    const Class = modules.get(action.artifact)
    // A `handle = async () => …` property exists only on an instance.
    const made = isClass(Class) ? new Class() : undefined
    if (typeof made?.handle === 'function') return made as Action
    throw errors.WP_RUNTIME_ACTION_CLASS({ file: action.file })
  }
  const known = classes.get(action.class)
  if (known === undefined) {
    throw errors.WP_RUNTIME_ACTION_PLUGIN({ class: action.class, known: [...classes.keys()].join(', ') || 'none' })
  }
  const prepared = prepareConfig(known.config, action.config)
  if ('config' in prepared) return known.make(prepared.config)
  const problem = 'problem' in prepared ? prepared.problem : `variables are not set: ${prepared.missing.join(', ')}`
  throw errors.WP_RUNTIME_ACTION_CONFIG({ class: action.class, problem })
}

function isClass(value: unknown): value is new () => Partial<Action> {
  return typeof value === 'function' && typeof value.prototype === 'object'
}
