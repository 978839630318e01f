import type { Files } from '../../support/project-server.ts'

/** Cases that are hard to describe in OpenAPI. */
export const nastyProject: Files = {
  'a.ts': '',
  'waypost.yml': `
routes:
  /:
    methods:
      GET: { public: true, html: trusted, action: a.ts }
  /:tenant/files/:file_id:
    scopes: [files, files.read]
    rate: slow
    deprecated: 2027-01-31
    path: File-Path
    methods:
      GET:
        description: |
          Shows a file. It may be large,
          and comes as it is.
        parameters: Paging
        responses: { 200: File, 404: { type: object, properties: { gone: { type: boolean } } } }
        action: a.ts
      PUT: { request: File, responses: { 204: , 409: Problem }, action: a.ts }
      PATCH:
        scopes: []
        response: { type: [object, 'null'], properties: { self: { $ref: '#' } } }
        action: a.ts
      DELETE:
        request: { type: object, properties: { reason: { const: spam } } }
        responses:
          202: true
          203: Shape
          206: { allOf: [{ $ref: schema:///Shape }, { type: object, properties: { z: true } }], examples: [{ w: 1, z: a }] }
        action: a.ts
  /one/of/:id/*path: { methods: { GET: { public: true, action: a.ts }, PUT: { public: true, rate: slow, action: a.ts } } }
  /search:
    methods:
      GET:
        public: true
        parameters:
          type: object
          allOf:
            - { $ref: schema:///Paging }
            - type: object
              required: [q]
              properties:
                q: { type: string, minLength: 1, examples: [milk], description: What to look for }
                limit: { type: integer, deprecated: true }
          properties:
            tag: { type: array, items: { $ref: '#/$defs/Tag' } }
            any: true
          $defs:
            Tag: { type: string, pattern: '^[a-z]+$' }
        response:
          type: array
          items: false
          prefixItems: [{ $ref: '#/$defs/Node' }, { type: string }]
          minItems: 2
          $defs:
            Node: { type: object, properties: { next: { $ref: '#/$defs/Node' }, $ref: { type: string } } }
        action: a.ts
      POST:
        public: true
        request: { $ref: './legacy.json' }
        responses:
          200: { description: Every one, type: array, items: { $ref: 'schema:///Tree#/properties/children' } }
          201: { $ref: schema:///Tree }
          302: { type: object }
        action: a.ts
  /order/by/x: { methods: { GET: { public: true, action: a.ts } } }
  /order/:x:
    path: { x: { type: string, format: uuid, description: Which } }
    methods: { GET: { public: true, parameters: { date: { $ref: schema:///Day } }, action: a.ts } }
  /weird~$&'+,;=@path/a-b: { methods: { GET: { public: true, action: a.ts } } }
schema:
  Always: true
  Day: { type: string, format: date, examples: ['2027-01-31'], deprecated: true }
  File:
    type: object
    required: [name, size]
    additionalProperties: false
    properties:
      name: { type: string, examples: [a.txt] }
      size: { type: [integer, 'null'], default: 3 }
      meta: { type: object, additionalProperties: { type: string } }
      kind: { enum: [text, image, null] }
      x: true
      y: false
    patternProperties: { '^x-': { type: string } }
  File-Path:
    type: object
    required: [tenant, file_id]
    properties: { tenant: { type: string }, file_id: { type: integer } }
  Paging:
    type: object
    required: [limit]
    properties:
      startIndex: { type: integer, minimum: 0, default: 0, description: The first }
      limit: { type: integer, maximum: 100, default: 20 }
  Problem:
    type: object
    properties: { why: { type: string } }
    if: { type: object, required: [why], properties: { why: true } }
    then: { type: object, properties: { why: { type: string, minLength: 3 } } }
  Shape:
    oneOf:
      - { type: object, required: [r], properties: { r: { type: number } } }
      - { type: object, required: [w], properties: { w: { type: number } } }
    examples: [{ r: 1 }]
  Tree:
    type: object
    properties:
      value: { oneOf: [{ type: string }, { type: number, exclusiveMinimum: 0 }] }
      children: { type: array, items: { $ref: '#' } }
    definitions: { A: { type: string } }
  Unused: { type: string }
rate: { slow: { limit: 10, window: 1m } }
scope: { files: { description: Files }, other: }
`,
  'legacy.json': `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "$id": "http://acme.test/legacy",
  "type": "object",
  "definitions": {
    "P": {
      "$id": "#p",
      "type": "array",
      "items": [{ "type": "string" }, { "type": "number" }],
      "additionalItems": false,
      "minItems": 2
    }
  },
  "properties": { "p": { "$ref": "#p" }, "q": { "$ref": "#/definitions/P" } },
  "dependencies": { "p": ["q"], "q": { "properties": { "z": { "type": "string" } } } },
  "default": { "p": ["a", 1], "q": ["a", 2] }
}`,
}

const access = ['public: true', 'scopes: []', 'scopes: [one]', 'scopes: [one, two]']
const queries = [
  '',
  'parameters: Paging',
  'parameters: { q: { type: string, default: x }, tag: { type: array, items: { $ref: schema:///Word } } }',
]
const requests = ['', 'request: Thing', 'request: { type: [object, "null"] }']
const answers = [
  '',
  'response: Thing',
  'responses: { 204: , 404: Thing }',
  'responses: { 201: { type: string }, 503: true }',
]
const limits = ['', 'rate: slow', 'timeout: 5s']

/** A project with a route for each combination of method keys. */
export function everyCombination(): Files {
  let combinations: string[][] = [[]]
  for (const parts of [access, queries, requests, answers, limits]) {
    combinations = combinations.flatMap((begun) => parts.map((part) => [...begun, part]))
  }
  const routes = combinations.map(makeRoute)
  return { 'a.ts': '', 'waypost.yml': `routes:\n${routes.join('')}${shared}` }
}

const verbs = ['POST', 'PUT', 'PATCH', 'DELETE']

function makeRoute(parts: readonly string[], index: number): string {
  const hasRequest = parts[2] !== ''
  const verb = hasRequest ? verbs[index % 4] : ['GET', ...verbs][index % 5]
  const method = [...parts.filter((part) => part !== ''), 'action: a.ts'].join(', ')
  const [parameter, path] = index % 2 === 0 ? ['', ''] : ['/:id', '    path: { id: { type: integer } }\n']
  const deprecated = index % 7 === 0 ? '    deprecated: 2027-01-31\n' : ''
  return `  /group-${index % 5}/item-${index}${parameter}:\n${path}${deprecated}    methods: { ${verb}: { ${method} } }\n`
}

const shared = `
schema:
  Word: { type: string, minLength: 1 }
  Thing: { type: object, required: [name], properties: { name: { type: string, examples: [milk] } } }
  Paging: { type: object, properties: { startIndex: { type: integer, default: 0 } } }
rate: { slow: { limit: 10, window: 1m, by: address } }
scope: { one: { description: The first } }
`
