import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { compileDefinition } from './compile-definition.ts'
import { load, loadYaml, loadMethod } from './load-text.ts'

suite('schemas', () => {
  test('draft-07 becomes 2020-12', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  Pair: !include pair.json\n',
      'pair.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema#',
        $id: 'https://example.com/pair.json',
        $comment: 'dropped',
        type: 'array',
        minItems: 2,
        items: [{ $ref: '#/definitions/a' }, { $ref: '#b' }],
        additionalItems: false,
        definitions: {
          a: { type: 'object', properties: { x: true, y: true }, dependencies: { x: ['y'], y: { required: ['x'] } } },
          b: { $id: '#b', type: 'array', items: { $ref: '#/items/0' } },
        },
      }),
    })
    assert.deepEqual(schemas['Pair'], {
      type: 'array',
      minItems: 2,
      prefixItems: [{ $ref: 'schema:///Pair#/definitions/a' }, { $ref: 'schema:///Pair#/definitions/b' }],
      items: false,
      definitions: {
        a: {
          type: 'object',
          properties: { x: true, y: true },
          dependentRequired: { x: ['y'] },
          dependentSchemas: { y: { required: ['x'] } },
        },
        b: { type: 'array', items: { $ref: 'schema:///Pair#/prefixItems/0' } },
      },
    })
  })

  test('`#` is the schema that contains it, wherever it is written', async () => {
    const tree =
      '{ type: object, properties: { child: { $ref: "#" }, leaf: { $ref: "#/$defs/leaf" } }, $defs: { leaf: { type: string } } }'
    const { schemas, routes } = await load({
      'waypost.yml': `routes:\n  /a:\n    methods:\n      POST:\n        scopes: []\n        response: Outer\n        action: src/a.ts\n        parameters: { q: ${tree.replace('object', 'string').replace(/properties: .*?\} \}, /, '')} }\n        request: ${tree}\nschema:\n  Outer: { type: object, properties: { inner: !include tree.yml } }\n`,
      'tree.yml': tree,
    })
    const inner = (schemas['Outer'] as { properties: { inner: { properties: object } } }).properties.inner
    const base = 'schema:///Outer#/properties/inner'
    assert.deepEqual(inner.properties, { child: { $ref: base }, leaf: { $ref: `${base}/$defs/leaf` } })
    const { request } = routes[0]!.methods[0]! as unknown as { request: { properties: object } }
    assert.deepEqual(request.properties, { child: { $ref: '#' }, leaf: { $ref: '#/$defs/leaf' } })
  })

  test('a parameter in a map may refer to itself: its path in the definition is known', async () => {
    const method = await loadMethod(
      'scopes: [], parameters: { tags: { type: array, items: { $ref: "#/$defs/t" }, $defs: { t: { type: string } } } }',
    )
    const { properties } = method.query as { properties: { tags: { items: unknown } } }
    assert.deepEqual(properties.tags.items, { $ref: '#/properties/tags/$defs/t' })
  })

  test('a relative $ref reaches a file or a part of one; each becomes a schema with a name from its path', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  Order: !include schema/order.yml\n  Named: !include schema/named.json\n',
      'schema/order.yml':
        'type: object\nproperties:\n  to: { $ref: address.json }\n  zip: { $ref: "./address.json#/definitions/zip" }\n  named: { $ref: named.json }\n',
      'schema/address.json': JSON.stringify({
        type: 'object',
        properties: { zip: { $ref: '#/definitions/zip' }, next: { $ref: '#' } },
        definitions: { zip: { type: 'string', pattern: '^[0-9]{5}$' } },
      }),
      'schema/named.json': '{ "type": "integer" }',
    })
    assert.deepEqual(Object.keys(schemas), [
      'Order',
      'Named',
      'schema.address.json',
      'schema.address.json.definitions.zip',
    ])
    assert.deepEqual(schemas['Order'], {
      type: 'object',
      properties: {
        to: { $ref: 'schema:///schema.address.json' },
        zip: { $ref: 'schema:///schema.address.json.definitions.zip' },
        named: { $ref: 'schema:///Named' },
      },
    })
    const { properties } = schemas['schema.address.json'] as { properties: object }
    assert.deepEqual(properties, {
      zip: { $ref: 'schema:///schema.address.json.definitions.zip' },
      next: { $ref: 'schema:///schema.address.json' },
    })
  })

  test('a pointer leads into draft-07 tuples, dependencies and definitions, by name, by file and percent-encoded', async () => {
    const draft07 = '$schema: "http://json-schema.org/draft-07/schema#"'
    const { schemas } = await load({
      'waypost.yml': `schema:
  Tuple: { ${draft07}, type: array, items: [{ type: string }, { type: object, properties: { x: { $ref: "#/items/0" } } }], minItems: 2, additionalItems: false }
  Inner: { $ref: "schema:///Tuple#/items/1/properties/x" }
  Rest: { ${draft07}, type: array, minItems: 1, maxItems: 1, items: [true], additionalItems: { type: integer } }
  More: { $ref: "schema:///Rest#/additionalItems" }
  Needs: { ${draft07}, type: object, properties: { a: { $ref: "#/dependencies/a" } }, dependencies: { a: { type: object } } }
  Named: { type: object, properties: { a: { $ref: "#/definitions/x%20y~1z~0" } }, definitions: { "x y/z~": true } }
  File: { $ref: "a%20b.json#/items/0" }
`,
      'a b.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema',
        items: [{ type: 'null' }],
        type: 'array',
        minItems: 1,
        additionalItems: false,
      }),
    })
    assert.deepEqual(schemas['Inner'], { $ref: 'schema:///Tuple#/prefixItems/1/properties/x' })
    assert.deepEqual(schemas['More'], { $ref: 'schema:///Rest#/items' })
    assert.deepEqual((schemas['Needs'] as { properties: object }).properties, {
      a: { $ref: 'schema:///Needs#/dependentSchemas/a' },
    })
    assert.deepEqual((schemas['Named'] as { properties: object }).properties, {
      a: { $ref: 'schema:///Named#/definitions/x%20y~1z~0' },
    })
    assert.deepEqual(schemas['File'], { $ref: 'schema:///a.b.json.items.0' })
  })

  test('a part of a draft-07 file is draft-07', async () => {
    const { schemas } = await load({
      'waypost.yml': 'schema:\n  A: { type: array, items: { $ref: "pairs.json#/definitions/pair" } }\n',
      'pairs.json': JSON.stringify({
        $schema: 'http://json-schema.org/draft-07/schema#',
        definitions: { pair: { type: 'array', items: [true, true], minItems: 2, additionalItems: false } },
      }),
    })
    const pair = { type: 'array', prefixItems: [true, true], minItems: 2, items: false }
    assert.deepEqual(schemas['pairs.json.definitions.pair'], pair)
  })

  test('schemas may refer to each other in cycles, through properties, and by pointer and anchor', async () => {
    const definition = await loadYaml(`
schema:
  Tree: { type: object, required: [name], properties: { name: { $ref: "schema:///Names#/$defs/n" }, kids: { type: array, items: { $ref: schema:///Tree } } } }
  Names: { $defs: { n: { $anchor: name, type: string } }, anyOf: [{ $ref: "#name" }, { type: "null" }] }
  Alias: Tree
  Never: false
`)
    const isValid = compileDefinition(definition)
    assert.deepEqual(definition.schemas['Alias'], { $ref: 'schema:///Tree' })
    assert.ok(isValid('Alias', { name: 'a', kids: [{ name: 'b' }] }))
    assert.ok(!isValid('Alias', { name: 'a', kids: [{ name: 7 }] }))
    assert.ok(isValid('Names', null))
  })

  test('a required property may be listed in another part of the same schema, or be free', async () => {
    await loadYaml(`
schema:
  Base: { type: object, properties: { id: { type: integer } } }
  All: { type: object, allOf: [{ $ref: schema:///Base }], required: [id], anyOf: [{ required: [a] }, { required: [b] }], properties: { a: true, b: true } }
  Map: { type: object, required: [en], additionalProperties: { type: string } }
  Pattern: { type: object, required: [x-a], patternProperties: { '^x-': { type: string } } }
`)
  })

  test('names such as __proto__ and constructor are names like all others', async () => {
    const { schemas } = await loadYaml(
      'schema:\n  constructor: { type: object, properties: { __proto__: { type: string }, toString: { type: integer } } }\n',
    )
    assert.deepEqual(Object.keys(schemas), ['constructor'])
    const { properties } = schemas['constructor'] as unknown as { properties: object }
    assert.deepEqual(Object.keys(properties), ['__proto__', 'toString'])
  })
})
