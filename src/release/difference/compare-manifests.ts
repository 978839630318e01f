import type { Manifest } from '../manifest.ts'
import { breaking, changeKinds, harmless, type ChangeDetail, type ChangeKind, type ReleaseChange } from './change.ts'
import { compareDeprecation, describeAccess } from './compare-access.ts'
import { comparers, describeVariable, tellSetting, type EntriesContext } from './compare-entries.ts'
import { compareMethods, nameMethod, type PlacedMethod } from './compare-methods.ts'
import { SchemaEffects } from './schema-effects.ts'
import { findUses } from './variable-uses.ts'

/** What differs between two manifests, by kind, sort of change and name; `before` is undefined when nothing is served yet. */
export function compareManifests(before: Manifest | undefined, after: Manifest): readonly ReleaseChange[] {
  const was = before ?? { ...after, ...nothing }
  const effects = new SchemaEffects(was.schemas, after.schemas)
  const context = { before: was, after, effects }
  // Routes and events first: they say who depends on which schema.
  const routes = compareRoutes(context)
  const events = compareKind('event', context)
  return changeKinds
    .flatMap((kind) => (kind === 'route' ? routes : kind === 'event' ? events : compareKind(kind, context)))
    .toSorted(inOrder)
}

const nothing = {
  routes: [],
  schemas: {},
  connections: {},
  events: {},
  scopes: {},
  cronjobs: {},
  rates: {},
  config: {},
  plugins: [],
  variables: {},
  migrations: [],
} as const satisfies Partial<Manifest>

const signs: readonly ReleaseChange['change'][] = ['added', 'changed', 'removed']

function inOrder(a: ReleaseChange, b: ReleaseChange): number {
  const byKind = changeKinds.indexOf(a.kind) - changeKinds.indexOf(b.kind)
  if (byKind !== 0) return byKind
  const bySign = signs.indexOf(a.change) - signs.indexOf(b.change)
  return bySign === 0 ? (a.name < b.name ? -1 : 1) : bySign
}

function compareRoutes({ before, after, effects }: EntriesContext): ReleaseChange[] {
  const [was, is] = [before, after].map(listMethods)
  const changes: ReleaseChange[] = []
  for (const [shape, placed] of is!) {
    const old = was!.get(shape)
    const name = nameMethod(placed)
    const { source } = placed.method
    if (old === undefined) {
      const details = [harmless(describeAccess(placed.method)), ...compareDeprecation(undefined, placed.route)]
      changes.push({ change: 'added', kind: 'route', name, breaking: false, details, source })
      continue
    }
    const details = compareMethods(old, placed, effects)
    if (details.length > 0) changes.push(changed('route', name, { details, source }))
  }
  for (const [shape, placed] of was!) {
    if (!is!.has(shape)) changes.push(removed('route', nameMethod(placed), []))
  }
  return changes
}

/** By method and path; what the parameters are called makes no other route. */
function listMethods({ routes, rates }: Manifest): ReadonlyMap<string, PlacedMethod> {
  return new Map(
    routes.flatMap((route) =>
      route.methods.map((method) => [
        `${method.method} ${route.path.replaceAll(/:[^/]+/g, ':')}`,
        { route, method, rates },
      ]),
    ),
  )
}

function compareKind(kind: Exclude<ChangeKind, 'route'>, context: EntriesContext): ReleaseChange[] {
  const { list, compare } = comparers[kind]
  const [was, is] = [new Map(Object.entries(list(context.before))), new Map(Object.entries(list(context.after)))]
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name): ReleaseChange[] => {
    if (!was.has(name)) return [added(kind, name, introduce(kind, name, context))]
    if (!is.has(name))
      return [removed(kind, name, kind === 'setting' ? tellSetting(name, context.before.config, {}) : [])]
    // What a schema or an event leads to may have changed although its own text did not.
    const mayLead = kind === 'schema' || kind === 'event'
    if (!mayLead && JSON.stringify(was.get(name)) === JSON.stringify(is.get(name))) return []
    const details = compare(name, context)
    return details.length === 0 ? [] : [changed(kind, name, { details })]
  })
}

function added(kind: ChangeKind, name: string, details: readonly ChangeDetail[]): ReleaseChange {
  return { change: 'added', kind, name, breaking: details.some((detail) => detail.breaking), details }
}

function introduce(kind: ChangeKind, name: string, { after }: EntriesContext): readonly ChangeDetail[] {
  if (kind === 'variable') return introduceVariable(name, after)
  return kind === 'setting' ? tellSetting(name, {}, after.config) : []
}

function introduceVariable(name: string, after: Manifest): readonly ChangeDetail[] {
  const { declared } = after.variables[name]!
  const uses = findUses(after, name).filter((use) => use !== 'actions') // told by what is declared
  return [
    ...(declared === undefined ? [] : [harmless(describeVariable(declared))]),
    ...(uses.length === 0 ? [] : [harmless(`used by ${uses.join(', ')}`)]),
  ]
}

function changed(
  kind: ChangeKind,
  name: string,
  { details, source }: { details: readonly ChangeDetail[]; source?: string },
): ReleaseChange {
  const isBreaking = details.some((detail) => detail.breaking)
  return { change: 'changed', kind, name, breaking: isBreaking, details, ...(source === undefined ? {} : { source }) }
}

/** Who calls a route or waits for an event notices that it is gone. */
function removed(kind: ChangeKind, name: string, details: readonly ChangeDetail[]): ReleaseChange {
  const isMissed = kind === 'route' || kind === 'event'
  const told = isMissed
    ? [breaking(kind === 'route' ? 'callers get 404' : 'subscribers no longer receive it')]
    : details
  return { change: 'removed', kind, name, breaking: told.some((detail) => detail.breaking), details: told }
}
