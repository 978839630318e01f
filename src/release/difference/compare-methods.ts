import { isDeepStrictEqual } from 'node:util'
import type { JsonSchema } from '../../contract/index.ts'
import { listPathParameters } from '../../kit/index.ts'
import type { ManifestAction, ManifestMethod, ManifestRoute } from '../manifest.ts'
import { breaking, changedCode, differingPaths, harmless, describeValueChange, type ChangeDetail } from './change.ts'
import { compareAccess, compareDeprecation, compareRates } from './compare-access.ts'
import { compareBodyLimits, compareRequests, compareResponses } from './compare-bodies.ts'
import { anyObject, isSuccess, label, nameMethod, type Compare, type MethodEntry } from './method-entry.ts'
import type { SchemaEffects } from './schema-effects.ts'

const isComparedElsewhere: Compare = () => []

/** How each key of a method is compared, in the order of the details in a plan. */
const comparisons = {
  method: isComparedElsewhere, // methods are matched by it and the path
  public: (before, after) => compareAccess(before.method, after.method),
  scopes: isComparedElsewhere, // with `public`
  params: comparePaths,
  query: compareQueries,
  request: compareRequests,
  requestTypes: isComparedElsewhere, // with `request`
  bodyLimit: compareBodyLimits,
  raw: compareValues('raw'),
  responses: compareResponses,
  responseTypes: isComparedElsewhere, // with `responses`
  http: compareHttp,
  rate: (before, after) => compareRates(rateOf(before), rateOf(after)),
  action: (before, after) => compareAction(before.method.action, after.method.action),
  steps: compareSteps,
  without: isComparedElsewhere, // with `steps`
  dispatch: compareValues('dispatch'),
  dispatchData: compareDispatchData,
  timeoutMs: compareValues('timeoutMs', 'timeout (ms)'),
  html: compareValues('html'),
  cache: compareCaching,
  compression: compareValues('compression'),
  operationId: compareOperationIds,
  summary: compareTexts('summary'),
  description: compareTexts('description'),
  tags: compareTexts('tags'),
} satisfies Record<keyof ManifestMethod, Compare>

/** How each key of a route is compared, for each of its methods. */
const routeComparisons = {
  path: isComparedElsewhere, // with the parameters of each method
  methods: isComparedElsewhere,
  deprecated: (before, after) => compareDeprecation(before.route, after.route),
} satisfies Record<keyof ManifestRoute, Compare>

/** Returns the differences between two versions of a method that matter to callers. */
export function compareMethods(
  before: MethodEntry,
  after: MethodEntry,
  effects: SchemaEffects,
): readonly ChangeDetail[] {
  if (isUnchanged(before, after, effects)) return []
  const all: readonly Compare[] = [...Object.values(comparisons), ...Object.values(routeComparisons)]
  return all.flatMap((compare) => compare(before, after, effects))
}

/** Most methods of two releases are the same. Comparing each part of them takes several times as long. */
function isUnchanged(before: MethodEntry, after: MethodEntry, effects: SchemaEffects): boolean {
  const { path, deprecated } = after.route
  if (before.route.path !== path || before.route.deprecated !== deprecated) return false
  const text = JSON.stringify(after.method)
  return JSON.stringify(before.method) === text && !effects.isAffected(text)
}

function rateOf({ method: { rate }, rates }: MethodEntry) {
  return { name: rate, rate: rate === undefined ? undefined : rates[rate] }
}

function compareValues(key: 'dispatch' | 'timeoutMs' | 'html' | 'compression' | 'raw', label: string = key): Compare {
  return ({ method: was }, { method: is }) =>
    was[key] === is[key] ? [] : [harmless(describeValueChange(label, was[key], is[key]))]
}

/** Which properties events have is compared with their schemas: those are what subscribers know. */
function compareDispatchData({ method: was }: MethodEntry, { method: is }: MethodEntry): readonly ChangeDetail[] {
  const [before, after] = [was, is].map(({ dispatchData: names }) => names?.join(', ') ?? 'the whole result')
  return before === after || was.dispatch !== is.dispatch
    ? []
    : [harmless(`data of ${is.dispatch}: ${after}, was ${before}`)]
}

/** Describes the steps of a new method, and those of its groups that do not run. */
export function describeSteps({ steps = [], without = [] }: ManifestMethod): readonly ChangeDetail[] {
  const names = steps.map(({ name }) => name)
  return [
    ...(names.length === 0 ? [] : [harmless(`steps ${names.join(', ')}`)]),
    ...(without.length === 0
      ? []
      : [harmless(`without the ${without.length === 1 ? 'step' : 'steps'} ${without.join(', ')}`)]),
  ]
}

/** Compares which steps run, their order and their code. */
function compareSteps({ method: { steps: was = [] } }: MethodEntry, { method: { steps: is = [] } }: MethodEntry) {
  const find = (steps: typeof was, name: string) => steps.find((one) => one.name === name)
  const lost = was.filter(({ name }) => find(is, name) === undefined)
  const added = is.filter(({ name }) => find(was, name) === undefined)
  const order = (steps: typeof was, others: typeof was) =>
    steps.flatMap(({ name }) => (find(others, name) === undefined ? [] : [name])).join(', ')
  return [
    ...lost.map(({ name }) => harmless(`the step ${name} no longer runs`)),
    ...added.map(({ name, action }) => harmless(`the step ${name} runs: ${nameAction(action)}`)),
    ...(order(was, is) === order(is, was)
      ? []
      : [harmless(`steps run in the order ${is.map(({ name }) => name).join(', ')}`)]),
    ...is.flatMap(({ name, action }) => {
      const old = find(was, name)
      return old === undefined
        ? []
        : compareAction(old.action, action).map((detail) => ({ ...detail, text: `step ${name}: ${detail.text}` }))
    }),
  ]
}

/** Texts in /docs, which have no effect on calls. */
function compareTexts(key: 'summary' | 'description' | 'tags'): Compare {
  return ({ method: was }, { method: is }) =>
    JSON.stringify(was[key]) === JSON.stringify(is[key]) ? [] : [harmless(key)]
}

/** Caches keep what they have for the time that they were told. */
function compareCaching({ method: { cache: was } }: MethodEntry, { method: { cache: is } }: MethodEntry) {
  const [before, after] = [was, is].map((cache) => cache && describeCaching(cache))
  return before === after ? [] : [harmless(describeValueChange('cache', before, after))]
}

function describeCaching({ maxAgeMs, public: isShared }: NonNullable<ManifestMethod['cache']>): string {
  return `max_age: ${maxAgeMs / 1000}s${isShared === true ? ', public: true' : ''}`
}

/** Callers over HTTP do not know it. */
function compareOperationIds({ method: was }: MethodEntry, { method: is }: MethodEntry): readonly ChangeDetail[] {
  if (was.operationId === is.operationId) return []
  const change = describeValueChange('operationId', was.operationId, is.operationId)
  return [harmless(`${change}, which renames the function of generated clients`)]
}

/** Compares path parameters. Renaming one changes nothing for callers. */
function comparePaths(before: MethodEntry, after: MethodEntry, effects: SchemaEffects): readonly ChangeDetail[] {
  const [old, now] = [before, after].map(({ route }) => listPathParameters(route.path))
  const renamed = old!.flatMap((name, index) => (name === now![index] ? [] : [[name, now![index]!] as const]))
  const details = effects.compare({
    before: rename(before.method.params ?? anyObject, new Map(renamed)),
    after: after.method.params ?? anyObject,
    direction: 'request',
    isCoerced: true,
    user: nameMethod(after),
  })
  return [
    ...renamed.map(([was, is]) => harmless(`path: ${JSON.stringify(was)} renamed to ${JSON.stringify(is)}`)),
    ...label('path', details),
  ]
}

function rename(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  if (names.size === 0 || typeof schema === 'boolean') return schema
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>
  const required = Array.isArray(schema['required']) ? (schema['required'] as string[]) : []
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [names.get(name) ?? name, one])),
    required: required.map((name) => names.get(name) ?? name),
  }
}

function compareQueries(before: MethodEntry, after: MethodEntry, effects: SchemaEffects): readonly ChangeDetail[] {
  const [was, is] = [before.method.query ?? anyObject, after.method.query ?? anyObject]
  return label(
    'query',
    effects.compare({ before: was, after: is, direction: 'request', isCoerced: true, user: nameMethod(after) }),
  )
}

/** Compares the headers, media types and errors that a class describes. Only what callers must send or can miss breaks them. */
function compareHttp({ method: { http: was } }: MethodEntry, { method: { http: is } }: MethodEntry) {
  if (JSON.stringify(was) === JSON.stringify(is)) return []
  // A release that was built before classes described it may have sent and required the same.
  if (was === undefined) return []
  const required = Object.entries(is?.headers ?? {}).flatMap(([name, need]) =>
    need === 'required' && was.headers?.[name] !== 'required'
      ? [breaking(`request: the header ${name} is now required`)]
      : [],
  )
  const ignored = Object.keys(was.headers ?? {}).flatMap((name) =>
    is?.headers?.[name] === undefined ? [breaking(`request: the header ${name} is now ignored`)] : [],
  )
  const missing = Object.entries(was.responses ?? {}).flatMap(([status, { headers = [] }]) =>
    headers.flatMap((name) =>
      is?.responses?.[status]?.headers?.includes(name) === true
        ? []
        : [{ text: `response ${status}: the header ${name} is no longer sent`, breaking: isSuccess(status) }],
    ),
  )
  const names = new Set([...Object.keys(was.behavior ?? {}), ...Object.keys(is?.behavior ?? {})])
  const behavior = [...names].flatMap((name) => {
    const [before, after] = [was.behavior?.[name], is?.behavior?.[name]]
    if (before === after) return []
    if (before === undefined) return [harmless(`${name}: ${after}`)]
    return [breaking(`${name} ${after === undefined ? 'removed' : 'changed'}: ${after ?? before}`)]
  })
  return [...required, ...ignored, ...missing, ...behavior]
}

/** Config values are not shown, because they may be secret. */
export function compareAction(before: ManifestAction, after: ManifestAction): readonly ChangeDetail[] {
  if (isDeepStrictEqual(before, after)) return []
  if (nameAction(before) !== nameAction(after))
    return [harmless(`action ${nameAction(after)}, was ${nameAction(before)}`)]
  if ('file' in after || 'file' in before) return [changedCode(`code of ${nameAction(after)}`)]
  const paths = differingPaths(before.config, after.config)
  if (paths.length === 0)
    return [harmless(`${after.class} works differently, because tables, other actions or the class changed`)]
  return [harmless(`config of ${after.class}: ${paths.join(', ')}`)]
}

function nameAction(action: ManifestAction): string {
  return 'file' in action ? action.file : action.class
}
