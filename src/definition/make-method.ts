import type { JsonSchema } from '../contract/index.ts'
import { isReservedName, parseDuration } from '../kit/index.ts'
import type { HttpMethod, Method } from './definition.ts'
import { makeAction } from './make-action.ts'
import { checkClassContent, makeBody, type Body } from './make-content.ts'
import { makeParameters } from './make-parameters.ts'
import { makeResponses } from './make-responses.ts'
import { makeSteps, type Steps } from './make-steps.ts'
import { readBodyLimits } from './read-body-limits.ts'
import { includeSiteOf } from './load-context.ts'
import { omitUndefined, locationOf, recordScopes, type DefinitionContext } from './definition-context.ts'
import { itemsOf, textOf, textsOf, valueOf, type Entry, type Node } from './node.ts'
import { checkName } from './section.ts'
import type { Span } from './source.ts'

/** The settings of a route that apply to all its methods. */
export interface RouteSettings {
  readonly path: string
  readonly params: JsonSchema | undefined
  readonly scopes: readonly string[] | undefined
  readonly rate: string | undefined
  readonly timeoutMs: number | undefined
  readonly tags: readonly string[] | undefined
  readonly steps: Steps
  /** The scopes that public methods have, without effect: those of a route whose methods are all public. */
  readonly unusedScopes: readonly string[]
  /** Whether some key of the route was probably a typo. */
  readonly isUnclear: boolean
}

const methodNames: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] satisfies HttpMethod[]

/** Reads a method; undefined if it has no valid action. */
export function makeMethod(context: DefinitionContext, entry: Entry, shared: RouteSettings): Method | undefined {
  const { key, value: node } = entry
  if (node.kind !== 'map' || !methodNames.includes(key)) return undefined
  const ownScopes = valueOf(node, 'scopes')
  recordScopes(context, itemsOf(ownScopes))
  checkScopes(context, entry, shared)
  const query = node.entries.get('parameters')
  const { steps, without } = makeSteps(context, node, shared.steps)
  const request = makeRequest(context, entry)
  const method = {
    method: key as HttpMethod,
    public: isPublic(node),
    summary: textOf(valueOf(node, 'summary')),
    description: textOf(valueOf(node, 'description')),
    tags: readTags(node) ?? shared.tags,
    operationId: readOperationId(context, node),
    scopes: ownScopes !== undefined ? textsOf(ownScopes) : isPublic(node) ? shared.unusedScopes : (shared.scopes ?? []),
    params: shared.params,
    query: query === undefined ? undefined : makeParameters(context, { entry: query }),
    request: request.json,
    requestTypes: request.types,
    ...makeResponses(context, node),
    ...readBodyLimits(context, entry, request),
    action: makeAction(context, valueOf(node, 'action')),
    ...readDispatch(context, node, `${key} ${shared.path}`),
    steps: steps.length === 0 ? undefined : steps,
    without: without.length === 0 ? undefined : without,
    timeoutMs: readTimeout(context, node) ?? shared.timeoutMs,
    rate: readRate(context, node) ?? shared.rate,
    html: textOf(valueOf(node, 'html')) === 'trusted' ? ('trusted' as const) : undefined,
    cache: readCache(context, entry),
    compression: isFalse(valueOf(node, 'compression')) ? (false as const) : undefined,
    at: locationOf(entry.keySpan),
  }
  if (method.action !== undefined && 'class' in method.action) checkClassContent(context, entry, request)
  return method.action === undefined ? undefined : omitUndefined({ ...method, action: method.action })
}

/** Generated clients have a function of this name. */
function readOperationId({ loading: { report }, operationIds }: DefinitionContext, node: Node): string | undefined {
  const at = valueOf(node, 'operationId')
  const id = textOf(at)
  if (at === undefined || id === undefined) return undefined
  if (isReservedName(id)) {
    const problem = `"${id}" is a reserved word in programming languages, so it cannot be an operationId`
    const hint = 'Begin with a verb and add its object, for example listTodos'
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, hint })
    return undefined
  }
  const key = id.toLowerCase().replaceAll('_', '')
  const other = operationIds.get(key)
  if (other === undefined) operationIds.set(key, { id, at })
  else {
    const { file, line } = includeSiteOf(other.at)
    const parameters = { id, other: other.id, first: `${file}:${line}` }
    report.add({ code: 'WP_DEFINITION_OPERATION_DUPLICATE', at, parameters })
  }
  return id
}

export function isPublic(node: Node): boolean {
  const value = valueOf(node, 'public')
  return value?.kind === 'scalar' && value.value === true
}

function readTags(node: Node): readonly string[] | undefined {
  const tags = valueOf(node, 'tags')
  return tags === undefined ? undefined : textsOf(tags)
}

function isFalse(value: Node | undefined): boolean {
  return value?.kind === 'scalar' && value.value === false
}

function checkScopes(
  { loading }: DefinitionContext,
  { key, keySpan, value }: Entry,
  { path, scopes, isUnclear }: RouteSettings,
): void {
  if (isUnclear || loading.report.isUnclear(value)) return
  const isOpen = valueOf(value, 'public')
  const isBoolean = isOpen?.kind === 'scalar' && typeof isOpen.value === 'boolean'
  if (isPublic(value) || (isOpen !== undefined && !isBoolean)) return
  if (scopes !== undefined || valueOf(value, 'scopes') !== undefined) return
  loading.report.add({ code: 'WP_DEFINITION_SCOPE_MISSING', at: keySpan, parameters: { method: key, path } })
}

function makeRequest(context: DefinitionContext, { key, value }: Entry): Body {
  const request = value.kind === 'map' ? value.entries.get('request') : undefined
  if (request === undefined) return {}
  if (key === 'GET') context.loading.report.add({ code: 'WP_DEFINITION_REQUEST_UNUSED', at: request.keySpan })
  return makeBody(context, request.value, 'request')
}

function readRate({ loading, sections }: DefinitionContext, node: Node): string | undefined {
  const at = valueOf(node, 'rate')
  const name = textOf(at)
  if (at === undefined || name === undefined) return undefined
  checkName(sections.rate, name, { at, report: loading.report })
  return name
}

/** Reads `dispatch`: the name of an event, or with the properties of its data. */
function readDispatch(
  { loading, sections, dispatches }: DefinitionContext,
  node: Node,
  method: string,
): Pick<Method, 'dispatch' | 'dispatchData'> {
  const at = valueOf(node, 'dispatch')
  const [event, data] = at?.kind === 'map' ? [valueOf(at, 'event'), valueOf(at, 'data')] : [at, undefined]
  const name = textOf(event)
  if (event === undefined || name === undefined) return {}
  checkName(sections.event, name, { at: event, report: loading.report })
  dispatches.set(method, { event, data })
  return { dispatch: name, ...(data !== undefined && { dispatchData: textsOf(data) }) }
}

const maxCacheAge = '365d'

/** Reads `cache` of a method. Only responses to GET are kept by caches. */
function readCache({ loading: { report } }: DefinitionContext, { key, value }: Entry): Method['cache'] {
  const entry = value.kind === 'map' ? value.entries.get('cache') : undefined
  if (entry === undefined) return undefined
  const refuse = (at: Node | Span, problem: string, hint?: string): undefined => {
    report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, ...(hint && { hint }) })
    return undefined
  }
  if (key !== 'GET') return refuse(entry.keySpan, `"cache" applies to GET only, not to ${key}`)
  const age = valueOf(entry.value, 'max_age')
  const text = textOf(age)
  if (age === undefined || text === undefined) return undefined // reported by the check of the structure
  const maxAgeMs = parseDuration(text)
  if (maxAgeMs === undefined || maxAgeMs % 1000 !== 0 || maxAgeMs > parseDuration(maxCacheAge)!) {
    const expected = maxAgeMs === undefined ? 'a duration such as 60s or 1h' : `whole seconds, at most ${maxCacheAge}`
    return refuse(age, `"max_age" must be ${expected}, not "${text}"`)
  }
  const isShared = valueOf(entry.value, 'public')
  if (isShared === undefined || !isPublic(entry.value)) return { maxAgeMs }
  if (isPublic(value)) return { maxAgeMs, public: true }
  const hint = 'Remove it: then only the cache of the caller stores the response'
  return refuse(
    isShared,
    '"public: true" would allow shared caches to store responses of a method that requires a token',
    hint,
  )
}

const maxTimeout = '1h'

/** Reads `timeout` of a method, a route or a group. */
export function readTimeout({ loading }: DefinitionContext, node: Node): number | undefined {
  const at = valueOf(node, 'timeout')
  const text = textOf(at)
  if (at === undefined || text === undefined) return undefined
  const timeoutMs = parseDuration(text)
  if (timeoutMs !== undefined && timeoutMs > 0 && timeoutMs <= parseDuration(maxTimeout)!) return timeoutMs
  const expected = timeoutMs === undefined ? 'a duration such as 30s or 5m' : `more than 0 and at most ${maxTimeout}`
  const problem = `"timeout" must be ${expected}, not "${text}"`
  loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
  return undefined
}
