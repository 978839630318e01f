import type { Action, ActionClass, Databases, RouteStep, StepClass } from '../contract/index.ts'
import { messageOf, takeBreaks, withDeadline } from '../kit/index.ts'
import { pluginErrors, type PluginSet, type PrepareConfig, type Provided, type ServicesOf } from '../plugin/index.ts'
import type { ManifestAction } from '../release/index.ts'
import { errors } from './errors.ts'

/** Where actions come from. */
export interface ActionSources {
  /** Default exports of the action artifacts, by hash. */
  readonly modules: ReadonlyMap<string, unknown>
  /** Loads the default export of an artifact that is not among the modules, when its action is called first. */
  loadLate(hash: string, file: string): Promise<unknown>
  /** Action classes of plugins, by name. */
  readonly classes: PluginSet['actions']
  /** Step classes of plugins, by name. */
  readonly steps: PluginSet['steps']
  /** Resolves the variables of a config, and checks it against the schema of its class. */
  readonly prepareConfig: PrepareConfig
  /** The databases of the connections. */
  readonly databases: Databases
  readonly services: ServicesOf
}

/** A method of a route, or a cronjob. */
export interface ActionUser {
  readonly action: ManifestAction
  /** Of a method: `GET`, for example. */
  readonly method?: string
  readonly path?: string
  /** Whether it is a step of the method. */
  readonly isStep?: boolean
}

const makeMs = 10_000

/** The instance of an action, or of a step, which may have `after`. */
export type Code = Action & Pick<RouteStep, 'after'>

/**
 * Makes the actions of methods and cronjobs, in their order: from the loaded artifacts, one instance per class, and from
 * the classes of plugins, one instance per method.
 * @throws WP_RUNTIME_ACTION_CLASS, WP_RUNTIME_ACTION_PLUGIN, WP_RUNTIME_ACTION_CONFIG, WP_PLUGIN_MAKE, or the error of a
 * constructor
 */
export async function makeActions(sources: ActionSources, users: readonly ActionUser[]): Promise<readonly Code[]> {
  const instances = new Map<unknown, Code>()
  const actions: Code[] = []
  const mayBreak = takeBreaks()
  for (const user of users) {
    const { action } = user
    if ('artifact' in action) {
      const known = instances.get(action.artifact) ?? makeOwnAction(sources, action)
      instances.set(action.artifact, known)
      actions.push(known)
    } else actions.push(await makePluginAction(sources, user, action))
    await mayBreak()
  }
  return actions
}

interface OwnAction {
  readonly artifact: string
  readonly file: string
}

function makeOwnAction({ modules, loadLate }: ActionSources, { artifact, file }: OwnAction): Code {
  if (modules.has(artifact)) return makeInstance(modules.get(artifact), file)
  let made: Promise<Code> | undefined
  const load = () =>
    (made ??= loadLate(artifact, file)
      .then((Class) => makeInstance(Class, file))
      .catch((error: unknown) => {
        made = undefined // the next call may succeed, for example after a timeout
        throw error
      }))
  return {
    async handle(request, context) {
      return (await load()).handle(request, context)
    },
    async after(request, context, outcome) {
      await (await load()).after?.(request, context, outcome)
    },
  }
}

function makeInstance(Class: unknown, file: string): Code {
  // A field such as `handle = async () => …` exists only on an instance.
  const made = isClass(Class) ? new Class() : undefined
  if (isCode(made)) return made
  throw errors.WP_RUNTIME_ACTION_CLASS({ file })
}

async function makePluginAction(
  { classes: actions, steps, prepareConfig, databases, services }: ActionSources,
  { method, path, isStep = false }: ActionUser,
  action: Extract<ManifestAction, { readonly class: string }>,
): Promise<Code> {
  const classes: ReadonlyMap<string, Provided<ActionClass | StepClass>> = isStep ? steps : actions
  const known = classes.get(action.class)
  if (known === undefined) {
    throw errors.WP_RUNTIME_ACTION_PLUGIN({ class: action.class, known: [...classes.keys()].join(', ') || 'none' })
  }
  const prepared = prepareConfig(known.class.config, action.config)
  if (!('config' in prepared)) {
    const problem = 'problem' in prepared ? prepared.problem : `variables are not set: ${prepared.missing.join(', ')}`
    throw errors.WP_RUNTIME_ACTION_CONFIG({ class: action.class, problem })
  }
  const use = method === undefined || path === undefined ? undefined : { method, path }
  const where = use === undefined ? 'a cronjob or listener' : `${use.method} ${use.path}`
  const refuse = (reason: string, cause?: unknown) =>
    pluginErrors.WP_PLUGIN_MAKE({ name: known.by.plugin.name, class: action.class, use: where, reason }, { cause })
  const host = services(known.by)
  const options = { config: prepared.config, plan: action.plan, use, databases, host }
  const making = (async () => known.class.make(options))()
  const late = () => {
    throw refuse(`it did not finish within ${makeMs / 1000} s`)
  }
  const made = await withDeadline(
    making.catch((cause: unknown) => {
      throw refuse(messageOf(cause), cause)
    }),
    makeMs,
    late,
  )
  if (isCode(made)) return made
  throw refuse('it did not return an object with a method "handle"')
}

function isClass(value: unknown): value is new () => Partial<Code> {
  return typeof value === 'function' && typeof value.prototype === 'object'
}

function isCode(made: unknown): made is Code {
  return typeof (made as Partial<Code> | undefined)?.handle === 'function'
}
