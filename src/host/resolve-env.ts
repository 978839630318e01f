import type { EnvValues } from '../contract/index.ts'
import { describeMismatch, parseVariable, variable, type VariableValue, shortId } from '../kit/index.ts'
import { type StoredRelease } from '../release/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'

/**
 * Reads the variables that a release declares for its actions, and checks that every other variable it needs is set.
 * Secret values are left out of the host's log from then on.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE
 */
export function resolveEnv(
  { variables, logSecrets }: Pick<Host, 'variables' | 'logSecrets'>,
  { id, manifest }: Pick<StoredRelease, 'id' | 'manifest'>,
): EnvValues {
  const used = Object.entries(manifest.variables)
  const missing = used.filter(([name, { optional }]) => !optional && variable(variables, name) === undefined)
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ')
    throw errors.WP_SERVER_VARIABLE({ variables: names, release: shortId(id) })
  }
  const env: [string, VariableValue][] = []
  for (const [name, { declared }] of used) {
    if (declared === undefined) continue
    const text = variable(variables, name)
    const value = text === undefined ? declared.default! : parseVariable(text, declared.type)
    if (value === undefined) {
      const parameters = { name, mismatch: describeMismatch(declared, text!), release: shortId(id) }
      throw errors.WP_SERVER_VARIABLE_TYPE(parameters)
    }
    if (declared.secret) logSecrets.add(String(value))
    env.push([name, value])
  }
  return Object.freeze(Object.fromEntries(env)) as EnvValues
}
