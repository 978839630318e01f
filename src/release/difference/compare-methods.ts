import type { JsonSchema } from '../../contract/index.ts'
import type { Manifest, ManifestAction, ManifestMethod, ManifestRoute } from '../manifest.ts'
import { breaking, differingKeys, harmless, tellValue, type ChangeDetail } from './change.ts'
import { compareAccess, compareDeprecation, compareRates } from './compare-access.ts'
import type { SchemaEffects } from './schema-effects.ts'

/** A method of a route, with all of its manifest that it depends on. */
export interface PlacedMethod {
  readonly route: ManifestRoute
  readonly method: ManifestMethod
  readonly rates: Manifest['rates']
}

export function nameMethod({ route, method }: Pick<PlacedMethod, 'route' | 'method'>): string {
  return `${method.method} ${route.path}`
}

/** What differs between two versions of a method, for those who call it. */
export function compareMethods(
  before: PlacedMethod,
  after: PlacedMethod,
  effects: SchemaEffects,
): readonly ChangeDetail[] {
  const [was, is] = [before.method, after.method]
  const rateOf = ({ method: { rate }, rates }: PlacedMethod) => ({
    name: rate,
    rate: rate === undefined ? undefined : rates[rate],
  })
  return [
    ...compareAccess(was, is),
    ...comparePaths(before, after, effects),
    ...compareSent(before, after, effects),
    ...compareResponses(before, after, effects),
    ...compareRates(rateOf(before), rateOf(after)),
    ...compareDeprecation(before.route, after.route),
    ...compareAction(was.action, is.action),
    ...compareOthers(was, is),
  ]
}

const anyObject: JsonSchema = { type: 'object' }

/** The path's parameters; one may have another name now, for callers see none. */
function comparePaths(before: PlacedMethod, after: PlacedMethod, effects: SchemaEffects): readonly ChangeDetail[] {
  const [old, now] = [before, after].map(({ route }) => parametersOf(route.path))
  const renamed = old!.flatMap((name, index) => (name === now![index] ? [] : [[name, now![index]!] as const]))
  const details = effects.compare({
    before: rename(before.method.params ?? anyObject, new Map(renamed)),
    after: after.method.params ?? anyObject,
    way: 'request',
    isCoerced: true,
    user: nameMethod(after),
  })
  return [
    ...renamed.map(([was, is]) => harmless(`path: ${JSON.stringify(was)} is called ${JSON.stringify(is)} now`)),
    ...label('path', details),
  ]
}

function parametersOf(path: string): readonly string[] {
  return path.split('/').flatMap((step) => (step.startsWith(':') ? [step.slice(1)] : []))
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

function compareSent(before: PlacedMethod, after: PlacedMethod, effects: SchemaEffects): readonly ChangeDetail[] {
  const user = nameMethod(after)
  const [was, is] = [before.method, after.method]
  const query = effects.compare({
    before: was.query ?? anyObject,
    after: is.query ?? anyObject,
    way: 'request',
    isCoerced: true,
    user,
  })
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(is.method)
  const bodyOf = ({ request }: ManifestMethod) => request ?? (takesBody ? anyObject : true)
  // Where no schema is said a call without a body passes.
  const isNew = was.request === undefined && is.request !== undefined
  const request = effects.compare({ before: bodyOf(was), after: bodyOf(is), way: 'request', user })
  return [
    ...label('query', query),
    ...(isNew ? [breaking('request: a body is required now')] : []),
    ...label('request', request),
  ]
}

function compareResponses(before: PlacedMethod, after: PlacedMethod, effects: SchemaEffects): readonly ChangeDetail[] {
  const [was, is] = [before.method.responses, after.method.responses]
  const statuses = [...new Set([...Object.keys(was), ...Object.keys(is)])].toSorted()
  const [first, now] = [was, is].map((responses) =>
    Object.keys(responses)
      .toSorted()
      .find((status) => status.startsWith('2')),
  )
  const details = statuses.flatMap((status): readonly ChangeDetail[] => {
    if (!Object.hasOwn(is, status)) return [{ text: `response ${status}: is gone`, breaking: isSuccess(status) }]
    if (!Object.hasOwn(was, status)) return [harmless(`response ${status}: is new`)]
    const pair = { before: was[status]!, after: is[status]!, way: 'answer', user: nameMethod(after) } as const
    return label(`response ${status}`, effects.compare(pair))
  })
  // Without a word of the action the lowest one is sent.
  const isOther = first !== now && first !== undefined && now !== undefined && Object.hasOwn(is, first)
  return isOther ? [...details, breaking(`response: answers ${now}, was ${first}`)] : details
}

/** A caller that knows what to do with an error is not broken when it never comes. */
function isSuccess(status: string): boolean {
  return /^[23]/.test(status)
}

function label(part: string, details: readonly ChangeDetail[]): readonly ChangeDetail[] {
  return details.map((detail) => ({ ...detail, text: `${part}: ${detail.text}` }))
}

/** Never what stands in a config: it may be a secret. */
export function compareAction(before: ManifestAction, after: ManifestAction): readonly ChangeDetail[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const nameOf = (action: ManifestAction) => ('file' in action ? action.file : action.class)
  if (nameOf(before) !== nameOf(after)) return [harmless(`action ${nameOf(after)}, was ${nameOf(before)}`)]
  if ('file' in after || 'file' in before) return [harmless(`code of ${nameOf(after)}`)]
  return [harmless(`config of ${after.class}: ${differingKeys(before.config, after.config).join(', ')}`)]
}

function compareOthers(before: ManifestMethod, after: ManifestMethod): readonly ChangeDetail[] {
  const keys = ['dispatch', 'timeoutMs', 'html'] as const
  const changed = keys.filter((key) => before[key] !== after[key])
  const isDescribed = before.description !== after.description
  return [
    ...changed.map((key) => harmless(tellValue(key === 'timeoutMs' ? 'timeout (ms)' : key, before[key], after[key]))),
    ...(isDescribed ? [harmless('description')] : []),
  ]
}
