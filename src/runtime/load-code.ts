import type { Manifest, ManifestMethod } from '../release/index.ts'
import { makeActions, type ActionSources, type ActionUser } from './find-action.ts'
import type { MethodCode } from './mount-routes.ts'

/** A method with its path. */
export interface MethodAt extends ActionUser {
  readonly of: ManifestMethod
}

export interface CodeSources extends Pick<
  ActionSources,
  'classes' | 'steps' | 'prepareConfig' | 'databases' | 'services'
> {
  /** Loads the code of actions and steps. */
  load(uses: readonly ActionUser[]): Promise<Pick<ActionSources, 'modules' | 'loadLate'>>
}

export function methodsOf({ routes }: Pick<Manifest, 'routes'>): MethodAt[] {
  return routes.flatMap(({ path, methods }) =>
    methods.map((of) => ({ of, action: of.action, method: of.method, path })),
  )
}

/**
 * Loads the code of methods: their actions and steps.
 * @throws the error of code that cannot be loaded
 */
export async function loadMethodCode(
  { load, ...sources }: CodeSources,
  methods: readonly MethodAt[],
): Promise<(method: ManifestMethod) => MethodCode> {
  const uses = methods.flatMap((one) => [one, ...stepsOf(one)])
  const made = await makeActions({ ...sources, ...(await load(uses)) }, uses)
  const byMethod = new Map<ManifestMethod, MethodCode>()
  let index = 0
  for (const { of } of methods) {
    const action = made[index++]!
    const steps = (of.steps ?? []).map(({ name, action: use }) => {
      return { name, place: 'file' in use ? use.file : use.class, step: made[index++]! }
    })
    byMethod.set(of, { action, steps })
  }
  return (method) => byMethod.get(method)!
}

function stepsOf({ of, ...at }: MethodAt): readonly ActionUser[] {
  return (of.steps ?? []).map(({ action }) => ({ ...at, action, isStep: true }))
}
