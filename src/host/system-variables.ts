import { variable, type Variables } from '../kit/index.ts'
import { findVariableUses, type Manifest } from '../release/index.ts'
import { loadFacts, type Secrets } from '../store/index.ts'
import type { Host } from './host.ts'
import { resolveSecrets } from './resolve-secrets.ts'

/** Where System keeps the value of a variable, which is bound to its name. */
const placeOf = (name: string) => ({ table: 'waypost_variable', column: 'value', row: name }) as const

export function sealVariable(secrets: Secrets, name: string, value: string): string {
  return secrets.seal(value, placeOf(name))
}

/**
 * Returns a host whose `variables` include those in System. The process and `.env` take precedence.
 * @param needed the names to read; all by default. Needs a secret only if System has one of them and the host does not.
 * @throws the errors of `openIdentity` about the secret
 */
export async function withSystemVariables<Known extends Host>(host: Known, needed?: readonly string[]): Promise<Known> {
  return { ...host, variables: { ...host.environment, ...(await loadValues(host, needed)) } }
}

/**
 * Reads all variables in System again and updates `host.variables` in place, so that all code that holds them sees the
 * changes.
 * @throws the errors of `openIdentity` about the secret; nothing has changed then
 */
export async function refreshVariables(host: Host): Promise<void> {
  const values = await loadValues(host, undefined)
  const current = host.variables as Record<string, string | undefined>
  for (const name of Object.keys(current)) delete current[name]
  Object.assign(current, host.environment, values)
}

async function loadValues(host: Host, needed: readonly string[] | undefined): Promise<Variables> {
  const rows = await host.system.db.selectFrom('waypost_variable').select(['id', 'value']).execute()
  const used = rows.filter(({ id }) => variable(host.environment, id) === undefined && needed?.includes(id) !== false)
  if (used.length === 0) return {}
  const secrets = await resolveSecrets(host, await loadFacts(host.system))
  return Object.fromEntries(used.map(({ id, value }) => [id, secrets.unseal(value, placeOf(id))]))
}

/** Returns the variables that the connections and plugins of a release use, in their config. */
export function variablesOfConnections(manifest: Manifest): readonly string[] {
  return namesUsedBy(manifest, /^(connection|plugin) /)
}

/** Returns the variables that the settings of a release use. */
export function variablesOfSettings(manifest: Manifest): readonly string[] {
  return namesUsedBy(manifest, /^setting /)
}

function namesUsedBy(manifest: Manifest, kind: RegExp): readonly string[] {
  return Object.keys(manifest.variables).filter((name) =>
    findVariableUses(manifest, name).some((use) => kind.test(use)),
  )
}
