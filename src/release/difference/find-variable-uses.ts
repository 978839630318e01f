import { parseReferences } from '../../kit/index.ts'
import type { Manifest, ManifestAction } from '../manifest.ts'

/**
 * Returns where a manifest uses a variable: `actions`, `connection Orders`, `cronjob nightly`, `setting docs`, `route
 * GET /order`.
 */
export function findVariableUses(manifest: Manifest, name: string): readonly string[] {
  const { connections, listeners = {}, cronjobs, config, plugins, routes } = manifest
  const places: (readonly [string, unknown])[] = [
    ...Object.entries(connections).map(([key, one]) => [`connection ${key}`, one.config] as const),
    ...Object.entries(listeners).map(([key, one]) => [`listener ${key}`, one] as const),
    ...Object.entries(cronjobs).map(([key, one]) => [`cronjob ${key}`, one] as const),
    ...Object.entries(config).map(([key, value]) => [`setting ${key}`, value] as const),
    ...plugins.map((plugin) => [`plugin ${plugin.from}`, plugin.config] as const),
    ...routes.flatMap(({ path, methods }) =>
      methods.map((method) => [`route ${method.method} ${path}`, configOf(method.action)] as const),
    ),
  ]
  const named = places.filter(([, value]) => isNamedIn(value, name)).map(([place]) => place)
  return manifest.variables[name]?.declared === undefined ? named : ['actions', ...named]
}

function configOf(action: ManifestAction): unknown {
  return 'config' in action ? action.config : undefined
}

function isNamedIn(value: unknown, name: string): boolean {
  if (typeof value === 'string') return parseReferences(value).references.some((reference) => reference.name === name)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((item) => isNamedIn(item, name))
}
