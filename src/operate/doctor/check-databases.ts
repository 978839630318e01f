import { checkReleaseActions, loadReleasePlugins, surveyMigrations, type Host } from '../../host/index.ts'
import { loadArtifacts, type StoredRelease } from '../../release/index.ts'
import type { Finding } from './finding.ts'

const shown = 5

/**
 * Checks that the databases of the active release allow what its methods do: which columns a role may not read or write.
 * Connections that wait for migrations are left out, and System in SQLite, which is opened to read only.
 * @param host with the variables of System
 */
export async function checkDatabases(host: Host, { id, manifest }: StoredRelease): Promise<readonly Finding[]> {
  const hashes = new Set(manifest.plugins.flatMap((plugin) => ('artifact' in plugin ? [plugin.artifact] : [])))
  const sizes = Object.fromEntries(Object.entries(manifest.artifacts).filter(([hash]) => hashes.has(hash)))
  const artifacts = hashes.size === 0 ? [] : await loadArtifacts(host.system, { id }, sizes)
  const release = { manifest }
  const plugins = await loadReleasePlugins(host, { manifest, artifacts })
  const { pending } = await surveyMigrations({ host, release, plugins, active: manifest, mayOpen: true })
  const closed = host.system.kind === 'sqlite' ? ['System'] : []
  const unready = new Set([...pending.map(({ connection }) => connection), ...closed])
  const failing = await checkReleaseActions({ host, release, plugins, unready })
  if (failing.length === 0) return []
  const lines = failing.slice(0, shown).map(({ method, path, message }) => `${method} ${path}: ${message}`)
  const more = failing.length > shown ? [`and ${failing.length - shown} more`] : []
  const next = 'Grant the missing privileges to the role of the connection, or change the configs of these methods.'
  return [{ check: 'database', state: 'fail', message: [...lines, ...more].join('; '), next }]
}
