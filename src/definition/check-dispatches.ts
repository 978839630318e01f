import type { JsonSchema } from '../contract/index.ts'
import { bodylessStatuses } from '../kit/index.ts'
import { compareSchemas, findContradiction, placeRoot, withoutAccess, withoutAccessIn } from '../schema/index.ts'
import { suggestFrom } from './config-annotations.ts'
import type { Definition, Method } from './definition.ts'
import type { DefinitionContext, DispatchNodes } from './definition-context.ts'
import { itemsOf } from './node.ts'
import { projectSchema } from './project-response.ts'
import type { Report } from './report.ts'

/**
 * Compares the responses of methods with the schema of the event that they dispatch. An event that no response can match
 * is an error: every request would fail after its work. One that a response may not match is a warning.
 */
export function checkDispatches(
  { dispatches, loading: { report } }: DefinitionContext,
  { routes, events, schemas }: Definition,
): void {
  if (report.hasErrors()) return // the schemas may be incomplete
  const named = withoutAccessIn(schemas, sent)
  for (const { path, methods } of routes)
    for (const method of methods) {
      const { dispatch: event } = method
      const places = dispatches.get(`${method.method} ${path}`)
      if (event === undefined || places === undefined) continue
      const types = findOtherTypes(method)
      if (types !== undefined) {
        const parameters = { event, method: method.method, path, types: types.join(', ') }
        report.add({ code: 'WP_DEFINITION_DISPATCH_TYPE', at: places.event, parameters })
        continue
      }
      const dispatched = Object.entries(method.responses).flatMap(([status, one]) =>
        listDispatched(method, withoutAccess(one, schemas, sent)).map((schema) => [status, schema] as const),
      )
      const responses = projectResponses(method, dispatched, { named, places, report })
      const schema = Object.hasOwn(events, event) ? events[event]!.schema : undefined
      if (schema === undefined) continue
      const at = places.event
      const found = compareWithEvent(responses, withoutAccess(schema, schemas, sent), named)
      if (found === undefined) continue
      const { status, reason } = found
      const parameters = { event, method: method.method, path, status, reason }
      if (found.isImpossible) report.add({ code: 'WP_DEFINITION_DISPATCH_IMPOSSIBLE', at, parameters })
      else report.add({ code: 'WP_DEFINITION_DISPATCH_UNSURE', severity: 'warning', at, parameters })
    }
}

/** Returns the media types of the successful responses of a method if none of them is JSON, which only can be dispatched. */
function findOtherTypes({ responses, responseTypes = {} }: Method): readonly string[] | undefined {
  const types = Object.entries(responseTypes).filter(([status]) => status.startsWith('2'))
  if (types.length === 0 || Object.keys(responses).some((status) => status.startsWith('2'))) return undefined
  return [...new Set(types.flatMap(([, one]) => Object.keys(one)))]
}

type Responses = readonly (readonly [status: string, schema: JsonSchema])[]

/** Returns the schemas of what a response dispatches: of a list the items, if each of them is an event. */
function listDispatched({ action }: Method, response: JsonSchema): readonly JsonSchema[] {
  const isEach = 'class' in action && action.plan?.each === true
  if (!isEach || typeof response === 'boolean') return [response]
  const { anyOf = [], ...root } = response
  const lists = (anyOf as readonly Exclude<JsonSchema, boolean>[]).filter((one) => one['type'] === 'array')
  if (lists.length === 0) return [response]
  const others = (anyOf as readonly JsonSchema[]).filter((one) => !lists.includes(one as never))
  return [...others, ...lists.map((one) => one['items'] as JsonSchema)].map((one) => ({ ...root, ...(one as object) }))
}

interface Projecting {
  readonly named: Definition['schemas']
  readonly places: DispatchNodes
  readonly report: Report
}

/** Leaves only the properties that `data` names, and reports those that a response does not have. */
function projectResponses(
  { dispatchData: names }: Method,
  responses: Responses,
  { named, places, report }: Projecting,
): Responses {
  if (names === undefined) return responses
  const reported = new Set<string>()
  return responses.flatMap(([status, response]) => {
    if (!status.startsWith('2') || bodylessStatuses.has(status)) return [[status, response] as const]
    const { schema, unknown, known } = projectSchema(response, names, named)
    for (const name of unknown) {
      if (reported.has(name)) continue
      reported.add(name)
      const at = itemsOf(places.data)[names.indexOf(name)] ?? places.event
      const problem = `"${name}" is not a property of the ${status} response`
      const hint = suggestFrom(report, name, known)
      report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem }, ...(hint && { hint }) })
    }
    return [[status, schema] as const]
  })
}

/** Neither responses nor events contain what is write-only. */
const sent = { keyword: 'writeOnly', instead: undefined } as const

interface Mismatch {
  readonly isImpossible: boolean
  readonly status: string
  readonly reason: string
}

/** Returns the first response that does not match; undefined if all do. */
function compareWithEvent(
  responses: readonly (readonly [string, JsonSchema])[],
  event: JsonSchema,
  named: Definition['schemas'],
): Mismatch | undefined {
  const successes = responses.filter(([status]) => status.startsWith('2'))
  const target = placeRoot(event, named)
  const impossible = successes.flatMap(([status, response]): readonly Mismatch[] => {
    // A response without a body dispatches null.
    const body: JsonSchema = bodylessStatuses.has(status) ? { type: 'null' } : response
    const found = findContradiction({ schemas: [target], written: [placeRoot(body, named)] })
    if (found === undefined) return []
    const reason = found.path === '' ? found.reason : `${found.path}: ${found.reason}`
    return [{ isImpossible: true, status, reason }]
  })
  const [first] = impossible
  if (first !== undefined) return { ...first, isImpossible: impossible.length === successes.length }
  for (const [status, response] of successes) {
    const { findings } = compareSchemas(placeRoot(response, named), target)
    const places = [...new Set(findings.map(({ path, keyword }) => (path === '' ? keyword : `${path} (${keyword})`)))]
    if (places.length === 0) continue
    const shown = places.slice(0, maxShown).join(', ')
    return { isImpossible: false, status, reason: places.length > maxShown ? `${shown}, …` : shown }
  }
  return undefined
}

const maxShown = 5
