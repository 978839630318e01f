import { bodylessStatuses } from '../kit/index.ts'
import type { Method } from './definition.ts'
import type { DefinitionContext } from './definition-context.ts'
import { makeBody, type Body } from './make-content.ts'
import { entriesOf, isEmpty, valueOf, type Entry, type Node } from './node.ts'

type Responses = Pick<Method, 'responses' | 'responseTypes'>

/** Reads `response` and `responses` of a method. */
export function makeResponses(context: DefinitionContext, node: Node): Responses {
  const single = valueOf(node, 'response')
  const entries = entriesOf(valueOf(node, 'responses'))
  const reportProblem = (at: Entry, problem: string, hint: string): void =>
    context.loading.report.add({
      code: 'WP_DEFINITION_RESPONSE_INVALID',
      at: at.keySpan,
      parameters: { problem },
      hint,
    })
  const double = entries.find(({ key }) => key === '200')
  if (single !== undefined && double !== undefined) {
    reportProblem(
      double,
      'The 200 response is defined twice',
      '"response" defines the 200 response. Remove one of the two',
    )
  }
  const made: [string, Body][] = single === undefined ? [] : [['200', makeBody(context, single, 'response')]]
  for (const entry of entries) {
    const isBodyless = bodylessStatuses.has(entry.key)
    if (isBodyless && !isEmpty(entry.value))
      reportProblem(entry, `A ${entry.key} response has no body`, `Write "${entry.key}:" without a schema`)
    if (!isBodyless && isEmpty(entry.value)) {
      reportProblem(entry, `"${entry.key}" must be a schema, not empty`, 'Only 204, 205 and 304 responses have no body')
    } else if (/^(?:[2-5]\d\d|4XX|5XX|default)$/.test(entry.key)) {
      made.push([entry.key, isBodyless ? { json: { type: 'null' } } : makeBody(context, entry.value, 'response')])
    }
  }
  const sorted = made.toSorted(([a], [b]) => (a < b ? -1 : 1))
  const types = sorted.flatMap(([status, body]) => (body.types === undefined ? [] : [[status, body.types] as const]))
  return {
    responses: Object.fromEntries(
      sorted.flatMap(([status, { json }]) => (json === undefined ? [] : [[status, json] as const])),
    ),
    ...(types.length > 0 && { responseTypes: Object.fromEntries(types) }),
  }
}
