import type { Manifest, ManifestMethod, ManifestRoute } from '../manifest.ts'
import { breaking, harmless, type ChangeDetail } from './change.ts'

type Access = Pick<ManifestMethod, 'public' | 'scopes'>
type Rate = Manifest['rates'][string]

/** Describes who may call a method: `public`, `private, scope order`. */
export function describeAccess(access: Access): string {
  return access.public ? 'public' : `private, ${describeScopes(access.scopes)}`
}

function describeScopes(scopes: readonly string[]): string {
  return scopes.length === 0 ? 'any valid token' : `scope ${scopes.join(' or ')}`
}

/** A token needs one of the scopes, so adding a scope excludes no caller. */
export function compareAccess(before: Access, after: Access): readonly ChangeDetail[] {
  if (after.public) return before.public ? [] : [harmless('is now public')]
  if (before.public) return [breaking(`is now private, ${describeScopes(after.scopes)}`)]
  if (before.scopes.toSorted().join() === after.scopes.toSorted().join()) return []
  const isWider = after.scopes.length === 0 || isSubset(before.scopes, after.scopes)
  const text = `needs ${describeScopes(after.scopes)}, was ${describeScopes(before.scopes)}`
  return [{ text, breaking: !isWider }]
}

/** Whether each principal with one of `scopes` also has one of `others`. */
export function isSubset(scopes: readonly string[], others: readonly string[]): boolean {
  return scopes.length > 0 && scopes.every((scope) => others.includes(scope))
}

/** Deprecation is reported only by the release that introduces it. */
export function compareDeprecation(
  before: Pick<ManifestRoute, 'deprecated'> | undefined,
  after: Pick<ManifestRoute, 'deprecated'>,
): readonly ChangeDetail[] {
  const { deprecated } = after
  if (deprecated === before?.deprecated) return []
  if (deprecated === undefined) return [harmless('is no longer deprecated')]
  return [harmless(deprecated === true ? 'deprecated' : `deprecated since ${deprecated}`)]
}

interface NamedRate {
  readonly name: string | undefined
  readonly rate: Rate | undefined
}

/** Compares which rate the method names. A change of the rate itself is reported for the rate. */
export function compareRates(before: NamedRate, after: NamedRate): readonly ChangeDetail[] {
  if (before.name === after.name) return []
  if (after.rate === undefined) return before.rate === undefined ? [] : [harmless('rate: removed')]
  const was = before.rate === undefined ? 'none' : describeRate(before.rate)
  const isLower = before.rate === undefined || isLowerRate(before.rate, after.rate)
  return [{ text: `rate: ${describeRate(after.rate)}, was ${was}`, breaking: isLower }]
}

/**
 * Whether a caller within the first limit may exceed the second. Several servers that count separately let more
 * requests pass than servers that count together.
 */
export function isLowerRate(before: Rate, after: Rate): boolean {
  const isShared = after.connection !== undefined && before.connection === undefined
  return isShared || after.by !== before.by || after.limit < before.limit || after.windowMs > before.windowMs
}

export function describeRate({ limit, windowMs, by, connection }: Rate): string {
  const text = `${limit} per ${windowMs / 1000} s per ${by}`
  return connection === undefined ? text : `${text} across all servers (${connection})`
}
