import { findUnheldScopes } from '../../../auth/index.ts'
import { countPendingRuns } from '../../../events/index.ts'
import {
  checkReleaseActions,
  makeOpenable,
  nameOfMigration,
  surveyMigrations,
  withSystemVariables,
  type Host,
} from '../../../host/index.ts'
import { parseReferences, variable } from '../../../kit/index.ts'
import type { PluginSet } from '../../../plugin/index.ts'
import {
  findMissingVariables,
  findOlderServers,
  listLiveServers,
  toDifference,
  type Manifest,
  type MissingVariable,
  type ReleaseOutline,
} from '../../../release/index.ts'
import { countDayCalls } from '../../statistics.ts'
import type { ReleaseFacts } from './facts.ts'
import { findRollbacks } from './find-rollbacks.ts'

export interface SurveyOptions {
  /** With the variables that the connections need. */
  readonly host: Host
  readonly release: ReleaseOutline
  /** The active release; without the manifest if that is damaged. */
  readonly active: { readonly id: string; readonly manifest?: Manifest | undefined } | undefined
  /** With all classes of connections and actions of the release that may be used. */
  readonly plugins: PluginSet
  /** Whether connections may be opened that the active release does not have: they could lead anywhere. */
  readonly mayOpen: boolean
  /** Variables that the activation sets. */
  readonly staged?: readonly string[]
}

/**
 * Returns what is known about a release before it may become active, for `judgeRelease`. Changes nothing.
 * @throws WP_SERVER_MIGRATIONS_EDITED, and the errors of connections
 */
export async function surveyRelease(options: SurveyOptions): Promise<ReleaseFacts> {
  const { host, release, active, plugins, mayOpen } = options
  const scope = { active: active?.manifest, mayOpen }
  const databases = { host, plugins, release: { manifest: release } }
  const { pending, dropped } = await surveyMigrations({ ...databases, ...scope })
  const isOpenable = makeOpenable(release, scope)
  const closed = Object.keys(release.connections).filter((name) => !isOpenable(name))
  const unready = new Set([...pending.map(({ connection }) => connection), ...closed])
  return {
    ...(await surveyOutline(options)),
    pendingMigrations: pending.map(nameOfMigration),
    droppedMigrations: dropped.map(nameOfMigration),
    failingActions: active?.id === release.id ? [] : await checkReleaseActions({ ...databases, unready }),
    rollbacks: await findRollbacks(host.system, pending),
  }
}

type OutlineFacts = Omit<
  ReleaseFacts,
  'pendingMigrations' | 'droppedMigrations' | 'failingActions' | 'rollback' | 'rollbacks'
>

/** Returns the facts that need no migrations and no code of the release. Activating the active one changes nothing. */
export async function surveyOutline({
  host,
  release,
  active,
  staged = [],
}: Pick<SurveyOptions, 'host' | 'release' | 'active' | 'staged'>): Promise<OutlineFacts> {
  const { system } = host
  const { id, waypost: built } = release
  const isActive = active?.id === id
  const compared = isActive
    ? { changes: [], accessWarnings: [], policies: release.compared.policies }
    : release.compared
  const named = compared.policies.flatMap((policy) => (typeof policy === 'string' ? namesIn(policy) : []))
  const { variables } = named.length === 0 ? host : await withSystemVariables(host, named)
  const needed = release.variables.filter((name) => !staged.includes(name))
  return {
    id,
    built,
    active: active && { id: active.id },
    ...toDifference(compared, {
      calls: isActive ? {} : await countDayCalls(system),
      runs: removesListener(compared) ? await countPendingRuns(system) : {},
      variables,
    }),
    olderServers: (await findOlderServers(system, release)).map(({ name, version }) => ({ name, version })),
    missingVariables: await findMissing(host, needed),
    unheldScopes: await findUnheldScopes(system, release.scopes),
  }
}

function removesListener({ changes }: Pick<ReleaseOutline['compared'], 'changes'>): boolean {
  return changes.some(({ kind, change }) => kind === 'listener' && change === 'removed')
}

function namesIn(text: string): readonly string[] {
  return parseReferences(text).references.map(({ name }) => name)
}

/**
 * An embedded System is served from this folder on this machine, so its environment is checked even without a running
 * server.
 */
async function findMissing(host: Host, names: readonly string[]): Promise<readonly MissingVariable[]> {
  const missing = await findMissingVariables(host.system, names)
  if (!host.isEmbedded || (await listLiveServers(host.system)).length > 0) return missing
  const unset = names.filter((name) => variable(host.environment, name) === undefined)
  const shared = await host.system.db.selectFrom('waypost_variable').select('id').execute()
  return unset.filter((name) => !shared.some(({ id }) => id === name)).map((name) => ({ name, servers: [] }))
}
