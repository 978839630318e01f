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
  /b:
    scopes: []
    methods:
      GET: { responses: { 200: { content: { application/json: Item, text/csv: { type: string } } }, 400: { content: [text/plain] } }, action: src/a.ts }
      PUT: { request: { content: [image/png, image/jpeg] }, response: { content: { text/event-stream: Item } }, body_limit: 1mb, action: src/a.ts }
      POST:
        request:
          content:
            application/json: Item
            multipart/form-data:
              type: object
              required: [n, f]
              properties:
                n: { type: integer }
                f: { type: file, maxSize: 100kb, types: [image/png] }
                fs: { type: array, maxItems: 2, items: { type: file, maxSize: 10kb } }
            application/x-www-form-urlencoded: Query
            text/plain: { type: string, maxLength: 100 }
        action: src/a.ts
      DELETE: { request: true, raw: true, action: src/a.ts }
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
