import { shapeOfPath } from '../../kit/index.ts'
import type { Manifest } from '../manifest.ts'
import { breaking, changeKinds, harmless, type ChangeDetail, type ChangeKind, type ReleaseChange } from './change.ts'
import { compareDeprecation, describeAccess } from './compare-access.ts'
import {
  comparers,
  describeStatic,
  describeVariable,
  describeSettingChange,
  type EntriesContext,
} from './compare-entries.ts'
import { compareMethods, describeSteps } from './compare-methods.ts'
import { nameMethod, type MethodEntry } from './method-entry.ts'
import { SchemaEffects } from './schema-effects.ts'
import { findVariableUses } from './find-variable-uses.ts'

/**
 * Compares two manifests. The changes are ordered by kind, sort of change and name. `before` is undefined if no release
 * is active.
 */
export function compareManifests(before: Manifest | undefined, after: Manifest): readonly ReleaseChange[] {
  const was = before ?? { ...after, ...emptyManifest }
  const effects = new SchemaEffects(was.schemas, after.schemas)
  const context = { before: was, after, effects }
  // Routes and events first: they record which schemas they use.
  const routes = compareRoutes(context)
  const events = compareKind('event', context)
  return changeKinds
    .flatMap((kind) => (kind === 'route' ? routes : kind === 'event' ? events : compareKind(kind, context)))
    .toSorted(compareChanges)
}

const emptyManifest = {
  routes: [],
  groups: {},
  static: {},
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  listeners: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
  migrations: [],
} as const satisfies Partial<Manifest>

const changeOrder: readonly ReleaseChange['change'][] = ['added', 'changed', 'removed']

function compareChanges(a: ReleaseChange, b: ReleaseChange): number {
  const byKind = changeKinds.indexOf(a.kind) - changeKinds.indexOf(b.kind)
  if (byKind !== 0) return byKind
  const byChange = changeOrder.indexOf(a.change) - changeOrder.indexOf(b.change)
  if (byChange !== 0) return byChange
  return sortKeyOf(a) < sortKeyOf(b) ? -1 : 1
}

/** Routes are ordered by path, then by method. */
function sortKeyOf({ kind, name }: ReleaseChange): string {
  return kind === 'route' ? name.split(' ').toReversed().join(' ') : name
}

function compareRoutes({ before, after, effects }: EntriesContext): ReleaseChange[] {
  const [was, is] = [before, after].map(listMethods)
  const changes: ReleaseChange[] = []
  for (const [shape, entry] of is!) {
    const old = was!.get(shape)
    const name = nameMethod(entry)
    if (old === undefined) {
      const details = [
        harmless(describeAccess(entry.method)),
        ...describeSteps(entry.method),
        ...compareDeprecation(undefined, entry.route),
      ]
      const access = entry.method.public ? { public: true } : {}
      changes.push({ change: 'added', kind: 'route', name, breaking: false, details, ...access })
      continue
    }
    const details = compareMethods(old, entry, effects)
    const access = entry.method.public && !old.method.public ? { public: true } : {}
    if (details.length > 0) changes.push({ ...changed('route', name, details), ...access })
  }
  const paths = new Set([...is!.keys()].map(pathOfShape))
  for (const [shape, entry] of was!) {
    if (is!.has(shape)) continue
    const status = paths.has(pathOfShape(shape)) ? 405 : 404 // other methods of the path remain
    changes.push(removed('route', nameMethod(entry), [breaking(`callers get ${status}`)]))
  }
  return changes
}

function pathOfShape(shape: string): string {
  return shape.slice(shape.indexOf(' ') + 1)
}

/** Lists methods by method and path. The names of path parameters do not matter. */
function listMethods({ routes, rates, config }: Manifest): ReadonlyMap<string, MethodEntry> {
  return new Map(
    routes.flatMap((route) =>
      route.methods.map((method) => [`${method.method} ${shapeOfPath(route.path)}`, { route, method, rates, config }]),
    ),
  )
}

function compareKind(kind: Exclude<ChangeKind, 'route'>, context: EntriesContext): ReleaseChange[] {
  const { list, compare } = comparers[kind]
  const [was, is] = [new Map(Object.entries(list(context.before))), new Map(Object.entries(list(context.after)))]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name): ReleaseChange[] => {
    if (!was.has(name)) return [added(kind, name, describeAdded(kind, name, context))]
    if (!is.has(name)) return [removed(kind, name, describeRemoved(kind, name, context))]
    // A schema or event may have changed through a schema that it refers to.
    const hasReferences = kind === 'schema' || kind === 'event'
    if (!hasReferences && JSON.stringify(was.get(name)) === JSON.stringify(is.get(name))) return []
    const details = compare(name, context)
    return details.length === 0 ? [] : [changed(kind, name, details)]
  })
}

function added(kind: ChangeKind, name: string, details: readonly ChangeDetail[]): ReleaseChange {
  return { change: 'added', kind, name, breaking: details.some((detail) => detail.breaking), details }
}

function describeRemoved(kind: ChangeKind, name: string, { before }: Manifests): readonly ChangeDetail[] {
  if (kind === 'static') return [breaking('callers get 404')]
  return kind === 'setting' ? describeSettingChange(name, before.config, {}) : []
}

function describeAdded(kind: ChangeKind, name: string, { before, after }: Manifests): readonly ChangeDetail[] {
  if (kind === 'static') return [harmless(describeStatic(after.static![name]!))]
  if (kind === 'variable') return describeAddedVariable(name, after)
  if (kind === 'migration') return describeAddedMigration(name, { before, after })
  return kind === 'setting' ? describeSettingChange(name, {}, after.config) : []
}

type Manifests = Pick<EntriesContext, 'before' | 'after'>

/** The release that is served until the migration has run may use what its steps drop or rename. */
function describeAddedMigration(name: string, { before, after }: Manifests): readonly ChangeDetail[] {
  const migration = after.migrations.find((one) => `${one.connection}/${one.name}` === name)
  const isServed = before.routes.length > 0
  const outside =
    migration?.outside === true
      ? [harmless('runs outside a transaction: if it fails, the changes that it has already made remain')]
      : []
  const rewrites = migration?.declared?.rewrites?.map(harmless) ?? []
  return [
    ...outside,
    ...rewrites,
    ...(migration?.declared?.breaking?.map((text) => ({ text, breaking: isServed })) ?? []),
  ]
}

function describeAddedVariable(name: string, after: Manifest): readonly ChangeDetail[] {
  const { declared } = after.variables[name]!
  const uses = findVariableUses(after, name).filter((use) => use !== 'actions') // covered by the declaration
  return [
    ...(declared === undefined ? [] : [harmless(describeVariable(declared))]),
    ...(uses.length === 0 ? [] : [harmless(`used by ${uses.join(', ')}`)]),
  ]
}

function changed(kind: ChangeKind, name: string, details: readonly ChangeDetail[]): ReleaseChange {
  return { change: 'changed', kind, name, breaking: details.some((detail) => detail.breaking), details }
}

/** A removed route or event affects its callers or subscribers. */
function removed(kind: ChangeKind, name: string, details: readonly ChangeDetail[]): ReleaseChange {
  const shown = kind === 'event' ? [breaking('subscribers no longer receive it')] : details
  return { change: 'removed', kind, name, breaking: shown.some((detail) => detail.breaking), details: shown }
}
