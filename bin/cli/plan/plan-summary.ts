import { joinWords, toPrintable, shortId } from '../../../src/kit/index.ts'
import type { ReleaseFacts } from '../../../src/operate/index.ts'
import type { DeployPlan, TargetFacts } from '../../../src/project/index.ts'
import { formatSpan, paint, plural } from '../format.ts'
import { widthOf, wrap } from '../print-diagnostics.ts'
import type { Change } from './explain-plan.ts'

/** Describes the servers of a target: `3 servers, waypost 1.0.0`. */
export function describeServers({ servers }: Pick<TargetFacts, 'servers'>): string {
  if (servers.length === 0) return 'no server running'
  const versions = [...new Set(servers.map(({ version }) => toPrintable(version)))].toSorted()
  return `${plural(servers.length, 'server')}, waypost ${versions.join(' and ')}`
}

/** Describes the active release: `4f1c9a2e   3 days ago, by ci, "Add content"`. */
export function describeActive({ active }: Pick<DeployPlan, 'active'>, now: number): string {
  if (active === undefined) return 'nothing yet'
  const { id, activatedAt, activatedBy, message } = active
  const words = message == null || message === '' ? [] : [JSON.stringify(toPrintable(message))]
  const parts = [`${formatSpan(now - activatedAt)} ago`, `by ${toPrintable(activatedBy)}`, ...words]
  return `${shortId(id)}   ${parts.join(', ')}`
}

export interface ChangeCounts {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly breaking: number
}

export function countChanges(changes: readonly Change[]): ChangeCounts {
  const count = (sort: Change['change']) => changes.filter(({ change }) => change === sort).length
  const breaking = changes.filter((change) => change.breaking).length
  return { added: count('added'), changed: count('changed'), removed: count('removed'), breaking }
}

/** `3 added, 2 changed, 1 removed; 2 break callers` */
export function describeCounts(changes: readonly Change[]): string {
  const { breaking, ...counts } = countChanges(changes)
  const sorts = Object.entries(counts).flatMap(([sort, count]) => (count === 0 ? [] : [`${count} ${sort}`]))
  const all = sorts.length === 0 ? 'no changes' : sorts.join(', ')
  if (breaking === 0) return `${all}; none breaks callers`
  return `${all}; ${breaking} ${breaking === 1 ? 'breaks' : 'break'} callers`
}

/** Whether a deployment would change nothing. */
export function isNothing({ id, active, pendingMigrations, filesChanged, changedSinceGit }: DeployPlan): boolean {
  return id === active?.id && pendingMigrations.length === 0 && !filesChanged && !changedSinceGit
}

/** `9b07d3c5 is what 3 servers serve. Nothing to do.` */
export function describeNothing({ id, target: { servers } }: DeployPlan): string {
  const there = servers.filter(({ release }) => release === id).length
  if (servers.length === 0) return `${shortId(id)} is already active, but no server is running. Nothing to do.`
  if (there === servers.length) return `${shortId(id)} is already served by ${plural(there, 'server')}. Nothing to do.`
  return `${shortId(id)} is already active; ${there} of ${plural(servers.length, 'server')} serve it. Nothing to do.`
}

interface DeployFlags {
  readonly migrate: boolean
  readonly from?: string | undefined
}

/** Says how many warnings about access need a yes; empty if there are none. */
export function describeAccess({ accessWarnings: { length } }: Pick<DeployPlan, 'accessWarnings'>): string {
  if (length === 0) return ''
  return `${plural(length, 'new warning')} about access must be confirmed, with --yes in a pipeline. `
}

/** Says that a deployment is refused until running servers have all variables; empty if they do. */
export function describeMissing({ missingVariables }: Pick<DeployPlan, 'missingVariables'>): string {
  const names = missingVariables.filter(({ servers }) => servers.length > 0).map(({ name }) => name)
  if (names.length === 0) return ''
  const them = names.length === 1 ? 'it' : 'them'
  return `A deployment is refused until all servers have ${joinWords(names)}. Set ${them} first, or add --allow-missing to set ${them} afterwards.`
}

/** Describes what a plan left to do, with the command for it. */
export function describePlanEnd(plan: DeployPlan, { migrate, from }: DeployFlags): readonly string[] {
  const { changes, active, pendingMigrations, target, breakingChanges } = plan
  const { breaking } = countChanges(changes)
  const flags = [
    ...(from === undefined ? [] : [`--from ${from}`]),
    ...target.flags,
    ...(migrate || pendingMigrations.length > 0 ? ['--migrate'] : []),
    ...(breaking > 0 && breakingChanges === 'forbid' ? ['--allow-breaking'] : []),
    `--against ${active === undefined ? 'none' : shortId(active.id)}`,
  ]
  const command = ['waypost deploy', ...flags].join(' ')
  const summary = `  ${wrap(`${describeCounts(changes)}. ${describeAccess(plan)}Nothing was changed on the target.`, 2)}`
  if (plan.overwritten.length > 0) {
    const text = `A deployment would undo changes made in the backend. ${plan.overwriteHint ?? ''}`
    return [summary, '', `  ${wrap(text, 2)}`]
  }
  if (plan.droppedMigrations.length > 0)
    return [summary, '', `  ${wrap('A deployment is refused until the migrations that have run are restored.', 2)}`]
  if (plan.olderServers.length > 0)
    return [summary, '', `  ${wrap('A deployment is refused until the servers with an older version are updated.', 2)}`]
  const missing = describeMissing(plan)
  const head = '  To deploy exactly this:'
  return [
    summary,
    ...(missing === '' ? [] : ['', `  ${wrap(missing, 2)}`]),
    '',
    // A command to copy is never wrapped.
    `${head}${head.length + 2 + command.length > widthOf(process.stdout) ? '\n    ' : '  '}${paint('cyan', command)}`,
  ]
}

/** Returns what is known about a release as JSON, whichever way it is meant to become active. */
export function factsJson(facts: ReleaseFacts) {
  return {
    changes: facts.changes,
    breaking: countChanges(facts.changes).breaking,
    breaking_changes: facts.breakingChanges,
    access_warnings: facts.accessWarnings,
    unheld_scopes: facts.unheldScopes,
    missing_variables: facts.missingVariables,
    older_servers: facts.olderServers,
    pending_migrations: facts.pendingMigrations,
    dropped_migrations: facts.droppedMigrations,
    rollbacks: facts.rollbacks,
  }
}

/** Returns a plan as JSON. A deployment adds more. */
export function planJson(plan: DeployPlan) {
  const { id, target, active } = plan
  return {
    release: id,
    target: target.address,
    active:
      active === undefined
        ? null
        : {
            id: active.id,
            activated_at: new Date(active.activatedAt).toISOString(),
            activated_by: active.activatedBy,
            message: active.message ?? null,
          },
    ...factsJson(plan),
    files_changed: plan.filesChanged,
    overwritten: plan.overwritten.map(({ isConflict, ...place }) => ({ ...place, conflict: isConflict })),
  }
}
