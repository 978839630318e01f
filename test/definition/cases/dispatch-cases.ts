import type { Case } from './case.ts'

interface Dispatch {
  /** The properties of the event. */
  readonly data?: string
  /** The responses of the method, and the schema of its event. */
  readonly responses: string
  readonly event: string
  readonly at?: string
  readonly problem?: string
}

const impossible = (reason: string, status = '200') =>
  `WP_DEFINITION_DISPATCH_IMPOSSIBLE The event "changed" rejects every ${status} response of POST /a: ${reason} | Use one named schema for the response and the event, or change one of the two`
const unsure = (reason: string, status = '200') =>
  `warning WP_DEFINITION_DISPATCH_UNSURE The event "changed" may reject the ${status} response of POST /a: ${reason} | Such a request fails with 500. Use one named schema for the response and the event, or change one of the two`

const dispatches: Readonly<Record<string, Dispatch>> = {
  'an event with the schema of the response': { responses: '{ 200: Todo }', event: 'Todo' },
  'an event that requires what the response does not declare': {
    responses: '{ 200: Todo }',
    event: '{ type: object, required: [done], properties: { done: { type: boolean } } }',
    problem: impossible('"done" is required, but is not in the response'),
  },
  'an event that requires what an open response may contain': {
    responses: '{ 200: { type: object, additionalProperties: true } }',
    event: 'Todo',
    problem: unsure('id (required), id (type), title (type)'),
  },
  'an event that excludes a required property': {
    responses: '{ 200: Todo }',
    event: '{ type: object, properties: { title: { type: string } }, additionalProperties: false }',
    problem: impossible('"id" is required, but "additionalProperties: false" excludes it'),
  },
  'a response that is never JSON': {
    responses: '{ 200: { content: { text/csv: { type: string } } } }',
    event: 'Todo',
    problem:
      'WP_DEFINITION_DISPATCH_TYPE POST /a cannot dispatch "changed": its response is text/csv, and only JSON is dispatched | Remove "dispatch", and dispatch the data in the action: context.dispatch("changed", data)',
  },
  'a response that may be JSON': {
    responses: '{ 200: { content: { text/csv: { type: string }, application/json: Todo } } }',
    event: 'Todo',
  },
  'an event of another type': {
    responses: '{ 200: { type: array, items: { $ref: schema:///Todo } } }',
    event: 'Todo',
    problem: impossible('a value cannot be of type "object" and "array"'),
  },
  'an event with another type of a property': {
    responses: '{ 200: Todo }',
    event: '{ type: object, required: [id], properties: { id: { type: string } } }',
    problem: impossible('id: a value cannot be of type "string" and "integer"'),
  },
  'an event that requires an optional property': {
    responses: '{ 200: Todo }',
    event: '{ type: object, required: [title], properties: { title: { type: string } } }',
    problem: unsure('title (required)'),
  },
  'an event that excludes null': {
    responses: "{ 200: { type: object, properties: { title: { type: [string, 'null'] } } } }",
    event: '{ type: object, properties: { title: { type: string } } }',
    problem: unsure('title (type)'),
  },
  'an event that accepts more': {
    responses: '{ 200: Todo }',
    event: "{ type: object, properties: { title: { type: [string, 'null'] } } }",
  },
  'an event of a response without a body': {
    responses: '{ 204: }',
    event: 'Todo',
    problem: impossible('a value cannot be of type "object" and "null"', '204'),
  },
  'an event of which one response has no body': {
    responses: '{ 200: Todo, 204: }',
    event: 'Todo',
    problem: unsure('a value cannot be of type "object" and "null"', '204'),
  },
  'an event with some of the properties': {
    responses: '{ 200: Todo }',
    data: '[id]',
    event: '{ type: object, required: [id], properties: { id: { type: integer } }, additionalProperties: false }',
  },
  'an event that requires a property that it does not get': {
    responses: '{ 200: Todo }',
    data: '[title]',
    event: 'Todo',
    at: '7:28 «changed»',
    problem: impossible('"id" is required, but "additionalProperties: false" excludes it'),
  },
  'an event whose properties no response has': {
    responses: '{ 200: Todo }',
    data: '[id, titel]',
    event: 'Todo',
    at: '7:48 «titel»',
    problem: 'WP_DEFINITION_VALUE_INVALID "titel" is not a property of the 200 response | Did you mean "title"?',
  },
  'an event of a failed response': { responses: '{ 200: Todo, 409: { type: string } }', event: 'Todo' },
}

/** Methods whose responses their event rejects. */
export const dispatchCases: readonly Case[] = Object.entries(dispatches).map(
  ([name, { responses, data, event, at = '7:19 «changed»', problem }]) => ({
    name,
    files: {
      'waypost.yml': `routes:
  /a:
    methods:
      POST:
        scopes: [a]
        responses: ${responses}
        dispatch: ${data === undefined ? 'changed' : `{ event: changed, data: ${data} }`}
        action: src/a.ts
  /b:
    methods:
      GET: { scopes: [a], response: Todo, action: src/a.ts }
event:
  changed: { scopes: [a], schema: ${event} }
schema:
  Todo: { type: object, required: [id], properties: { id: { type: integer }, title: { type: string } } }
`,
    },
    problems: problem === undefined ? [] : [`waypost.yml:${at} ${problem}`],
  }),
)
