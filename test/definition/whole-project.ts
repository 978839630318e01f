/** A project with every feature. */
export const whole = `
routes:
  /a/:id:
    version: 1
    scopes: [a]
    path: { id: { type: integer } }
    rate: few
    deprecated: 2027-01-31
    methods:
      GET: { public: true, parameters: Query, responses: { 200: List, 404: { $ref: "#/$defs/p", $defs: { p: true } } }, action: src/a.ts }
      PUT: { request: { $ref: "schema:///Item#/properties/inner" }, response: true, action: named, timeout: 3s, dispatch: made }
      POST: { request: Old, responses: { 204: }, action: { class: echo }, html: trusted }
schema:
  Query: { type: object, properties: { q: { type: string, pattern: "^a+$" }, n: { type: [integer, "null"] } } }
  Item: { type: object, required: [inner], properties: { inner: { type: array, items: { $ref: "#" } }, one: { $ref: part.json#/definitions/x~1y } } }
  List: { type: array, prefixItems: [{ $ref: schema:///Item }], minItems: 1, items: false }
  Old: { $schema: "http://json-schema.org/draft-07/schema#", type: array, items: [{ type: string }], minItems: 1, additionalItems: false }
connection: { Other: { class: http, config: { base: "\${env.BASE:-http://a}" } } }
event: { made: { description: Made, schema: Item, scopes: [a] } }
action: { named: { class: echo } }
scope: { a: { description: All } }
cronjob: { tidy: { schedule: "0 4 * * *", timezone: UTC, action: src/a.ts } }
rate: { few: { limit: 3, window: 1m, by: address } }
env: { BASE: , KEY: { description: A key, secret: true }, MOST: { type: integer, default: 3 }, SHY: { type: boolean, default: true } }
config: { token_lifetime: 30m, cors: [https://a.example] }
plugins: []
`
/** Its `part.json`. */
export const part =
  '{ "definitions": { "x/y": { "type": "string" }, "list": [true, { "$ref": "#/definitions/x~1y" }] } }'
