import type { JsonSchema } from '../contract/index.ts'
import { bodylessStatuses } from '../kit/index.ts'
import { compareSchemas, findContradiction, placeRoot, withoutAccess, withoutAccessIn } from '../schema/index.ts'
import type { Definition, Method } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'

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
      const at = dispatches.get(`${method.method} ${path}`)
      const types = event === undefined ? undefined : findOtherTypes(method)
      if (at !== undefined && event !== undefined && types !== undefined) {
        const parameters = { event, method: method.method, path, types: types.join(', ') }
        report.add({ code: 'WP_DEFINITION_DISPATCH_TYPE', at, parameters })
        continue
      }
      const schema = event === undefined || !Object.hasOwn(events, event) ? undefined : events[event]!.schema
      if (event === undefined || at === undefined || schema === undefined) continue
      const responses = Object.entries(method.responses).map(
        ([status, one]) => [status, withoutAccess(one, schemas, sent)] as const,
      )
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
