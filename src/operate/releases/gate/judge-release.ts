import { joinWords, shortId, type WaypostError } from '../../../kit/index.ts'
import { releaseErrors as errors } from '../../../release/index.ts'
import type { IncompatibleMigration, ReleaseFacts } from './facts.ts'

/** What the person or pipeline that activates a release has agreed to. */
export interface Consent {
  /** They have seen the plan and said yes. */
  readonly isConfirmed?: boolean | undefined
  /** Breaking changes may be activated, even where `breaking_changes: forbid` applies. */
  readonly allowBreaking?: boolean | undefined
  /** Warnings about access that the active release does not have are accepted. */
  readonly acceptAccess?: boolean | undefined
  /** Live servers may lack variables, which are set afterwards. Until then, these servers keep serving the previous release. */
  readonly allowMissing?: boolean | undefined
  /** Changes that were made in the backend may be undone. */
  readonly overwriteBackend?: boolean | undefined
  /** Pending migrations run first. */
  readonly migrate?: boolean | undefined
}

/** All that a caller could agree to. What is still refused then is impossible. */
export const everything: Consent = {
  isConfirmed: true,
  allowBreaking: true,
  acceptAccess: true,
  allowMissing: true,
  overwriteBackend: true,
  migrate: true,
}

/** A reason why a release may not become active. */
export interface Objection {
  readonly rule: ReleaseRule
  /** `asks`: a yes (`isConfirmed`) is enough. `refused`: the hint of the problem says what must change or be allowed. */
  readonly verdict: 'asks' | 'refused'
  readonly problem: WaypostError
}

export interface Judgement {
  readonly verdict: 'allowed' | 'asks' | 'refused'
  /** The objections that the consent leaves, the most severe first. */
  readonly objections: readonly Objection[]
}

export type ReleaseRule = keyof typeof rules

type Rule = (facts: ReleaseFacts, consent: Consent) => Omit<Objection, 'rule'> | undefined

const refuse = (problem: WaypostError) => ({ verdict: 'refused', problem }) as const

const keepHint =
  'Run waypost pull to apply these changes to the project. To undo them, add --overwrite-backend to the command, or "overwrite_backend" to the request.'

/** In the order in which they are reported: first what no consent allows. */
const rules = {
  olderServers({ id, built, olderServers }) {
    if (olderServers.length === 0) return undefined
    const servers = olderServers.map(({ name, version }) => `${name} (${version})`).join(', ')
    return refuse(errors.WP_RELEASE_SERVERS_OLDER({ id: shortId(id), built, servers }))
  },
  droppedMigrations({ droppedMigrations: names }) {
    return names.length === 0 ? undefined : refuse(errors.WP_RELEASE_MIGRATIONS_DROPPED({ names: names.join(', ') }))
  },
  incompatibleMigrations({ id, rollback }) {
    const migrations = rollback?.incompatibleMigrations ?? []
    if (migrations.length === 0) return undefined
    return refuse(errors.WP_RELEASE_BREAKING({ id: shortId(id), names: describeIncompatible(migrations) }))
  },
  failingActions({ failingActions }) {
    const [first] = failingActions
    if (first === undefined) return undefined
    const { length } = failingActions
    const more = length === 1 ? '' : ` (and ${length - 1} more)`
    return refuse(errors.WP_RELEASE_ACTION({ method: first.method, path: first.path, problem: first.message, more }))
  },
  overwrittenChanges({ overwritten: { length } = [], overwriteHint: hint = keepHint }, { overwriteBackend }) {
    if (length === 0 || overwriteBackend === true) return undefined
    return refuse(errors.WP_RELEASE_OVERWRITES({ count: length === 1 ? '1 change' : `${length} changes`, hint }))
  },
  pendingMigrations({ id, rollback, pendingMigrations }, { migrate }) {
    const names = pendingMigrations.join(', ')
    if (names === '') return undefined
    if (rollback !== undefined) return refuse(errors.WP_RELEASE_MIGRATIONS({ id: shortId(id), names }))
    return migrate === true ? undefined : refuse(errors.WP_RELEASE_MIGRATIONS_PENDING({ names }))
  },
  missingVariables({ missingVariables }, { allowMissing }) {
    // Without a running server nothing is known about the environment of the servers.
    const missing = missingVariables.filter(({ servers }) => servers.length > 0)
    if (missing.length === 0 || allowMissing === true) return undefined
    const names = joinWords(missing.map(({ name }) => name))
    const servers = joinWords([...new Set(missing.flatMap((one) => one.servers))])
    return refuse(errors.WP_RELEASE_VARIABLES({ names, servers }))
  },
  breakingChanges({ changes, breakingChanges }, { allowBreaking, isConfirmed }) {
    const { length } = changes.filter((change) => change.breaking)
    if (length === 0 || allowBreaking === true) return undefined
    const count = length === 1 ? '1 change breaks callers' : `${length} changes break callers`
    if (breakingChanges === 'forbid') return refuse(errors.WP_RELEASE_BREAKING_FORBIDDEN({ count }))
    if (isConfirmed === true) return undefined
    return { verdict: 'asks', problem: errors.WP_RELEASE_BREAKING_CHANGES({ count }) }
  },
  accessWarnings({ rollback, accessWarnings: found }, { acceptAccess }) {
    const [first] = found
    // What a rollback activates was accepted before.
    if (first === undefined || acceptAccess === true || rollback !== undefined) return undefined
    const more = found.length === 1 ? '' : ` (and ${found.length - 1} more)`
    return {
      verdict: 'asks',
      problem: errors.WP_RELEASE_ACCESS({ kind: first.kind, name: first.name, text: first.text, more }),
    }
  },
} satisfies Record<string, Rule>

/** Activating the active release again changes nothing for callers and servers, but it could change its files or databases. */
const rulesOfActive = new Set(['overwrittenChanges', 'pendingMigrations', 'droppedMigrations'])

/**
 * Decides whether a release may become active. Every way to activate one asks here, and again in `activateJudged`:
 * `deploy` to System or to a server, `deploy --from`, publishing, rollbacks, and a save in `dev`.
 */
export function judgeRelease(facts: ReleaseFacts, consent: Consent): Judgement {
  const isActive = facts.id === facts.active?.id
  const objections = Object.entries(rules).flatMap(([rule, find]: [string, Rule]) => {
    if (isActive && !rulesOfActive.has(rule)) return []
    const found = find(facts, consent)
    return found === undefined ? [] : [{ rule: rule as ReleaseRule, ...found }]
  })
  const isRefused = objections.some(({ verdict }) => verdict === 'refused')
  return { verdict: isRefused ? 'refused' : objections.length > 0 ? 'asks' : 'allowed', objections }
}

/** Judges a release, and throws the problem of the first objection. */
export function assertAllowed(facts: ReleaseFacts, consent: Consent): void {
  const { objections } = judgeRelease(facts, consent)
  const first = objections.find(({ verdict }) => verdict === 'refused') ?? objections[0]
  if (first !== undefined) throw first.problem
}

function describeIncompatible(migrations: readonly IncompatibleMigration[]): string {
  return migrations
    .map(({ name, steps }) => `${name} (${steps.length === 0 ? 'marked breaking: true' : steps.join(', ')})`)
    .join('; ')
}
