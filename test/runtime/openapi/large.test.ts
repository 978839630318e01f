// Describing an API takes time in proportion to its routes, and other requests are answered meanwhile.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Manifest } from '../../../src/release/index.ts'
import { makeOpenApi, writeOpenApi } from '../../../src/runtime/openapi/make-open-api.ts'
import { loadManifest } from './document.ts'

function describe(routes: number): Promise<Manifest> {
  const paths = Array.from({ length: routes }, (_, index) => {
    const methods =
      '{ GET: { response: Thing, action: a.ts }, POST: { request: Thing, response: Thing, action: a.ts } }'
    return `  /thing${index}: { scopes: [a], methods: ${methods} }`
  })
  const thing = '{ type: object, properties: { id: { type: integer }, parent: { $ref: schema:///Thing } } }'
  return loadManifest({ 'waypost.yml': `routes:\n${paths.join('\n')}\nschema: { Thing: ${thing} }\n`, 'a.ts': '' })
}

test('each route reads a named schema a few times more, for its name and the example of its request', async () => {
  const countReads = async (routes: number) => {
    const manifest = await describe(routes)
    let reads = 0
    const { properties, ...thing } = manifest.schemas['Thing'] as Readonly<Record<string, unknown>>
    const counted = {
      ...thing,
      get properties() {
        reads += 1
        return properties
      },
    }
    const { paths } = makeOpenApi({ ...manifest, schemas: { Thing: counted } })
    assert.equal(Object.keys(paths).length, routes)
    return reads
  }
  const [few, many] = [await countReads(5), await countReads(50)]
  assert.ok(few > 0 && many - few <= 3 * 45, `${few} reads for 5 routes, ${many} for 50`)
})

test('the server has a turn after every 20 routes, and the document is the same', async () => {
  const manifest = await describe(200)
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const text = await writeOpenApi(manifest)
  isDone = true
  assert.ok(turns >= 10, `${turns} turns`)
  assert.equal(text, JSON.stringify(makeOpenApi(manifest)))
})
