import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import { compile } from './compile.ts'
import { emptyDefinition, makeMethod } from './project.ts'
import { at, system } from './types-of.ts'

const order = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } }
const mediaTypes = {
  'GET /several': { 'application/json': { schema: order }, 'text/csv': { schema: { type: 'string' } } },
  'GET /events': { 'text/event-stream': { schema: order } },
  'GET /lines': { 'application/jsonl': { schema: order } },
  'GET /image': { 'image/png': {}, 'image/jpeg': {} },
}
/** The key of a route, a body of its action, and the expected compiler error. */
const mediaBodies: readonly [key: keyof typeof mediaTypes, body: string, error: RegExp][] = [
  ['GET /several', `return context.accepts === 'text/csv' ? context.respond(200, 'a', { 'content-type': 'text/csv' }) : { id: 1 }`, /^$/],
  ['GET /several', `return context.respond(200, 'a', { 'content-type': 'text/csv; header=present' })`, /^$/],
  ['GET /several', `return context.respond(200, 'a', { 'content-type': 'text/html' })`, /TS2416/],
  ['GET /several', `return context.respond(200, 'a', { 'content-type': 'application/json' })`, /TS2416/],
  ['GET /several', `return context.respond(200, Buffer.from('a'), { 'content-type': 'text/csv' })`, /^$/],
  ['GET /several', `if (context.accepts === 'text/html') return { id: 1 }\nreturn { id: 2 }`, /TS2367/],
  ['GET /events', `return (async function* () { yield { id: 1 } })()`, /^$/],
  ['GET /events', `return (async function* () { yield { event: 'new', id: 7, data: { id: 1 } } })()`, /^$/],
  ['GET /events', `return (async function* () { yield { id: 'x' } })()`, /TS2416/],
  ['GET /events', `return (async function* () { yield { event: 'new', data: { id: 'x' } } })()`, /TS2416/],
  ['GET /lines', `return [{ id: 1 }]`, /^$/],
  ['GET /lines', `return [{ id: 'x' }]`, /TS2416/],
  ['GET /image', `return context.file(new URL('./a.png', import.meta.url), { inline: true })`, /^$/],
  ['GET /image', `return new Blob(['x'], { type: 'image/png' })`, /^$/],
  ['GET /image', `return { id: 1 }`, /TS2416/],
] // prettier-ignore

test('an action sends the media types of its method, each with its own body', async () => {
  const routes = Object.entries(mediaTypes).map(([key, types]) => {
    const json = (types as Record<string, { schema: Record<string, unknown> }>)['application/json']?.schema
    const method = makeMethod('GET', 'src/a.ts', {
      ...(json === undefined ? {} : { responses: { 200: json } }),
      responseTypes: { 200: types },
    })
    return { path: key.split(' ')[1]!, methods: [method], at }
  })
  const types = makeTypes({ ...emptyDefinition, routes }, system)
  assert.match(types, /items: \{ event\?: string; id\?: string; data: \{ id: number \} \}/)
  assert.match(types, /accepts: "image\/png" \| "image\/jpeg"|accepts: 'image\/png' \| 'image\/jpeg'/)
  const make = (key: string, body: string) => `import type { Action, Context, Request } from 'waypost'
export default class Media implements Action<'${key}'> {
  async handle(_: Request<'${key}'>, context: Context<'${key}'>) {
${body}
  }
}
`
  const files = mediaBodies.map(([key, body], index) => [`src/m${index}.ts`, make(key, body)] as const)
  const errors = await compile({ ...Object.fromEntries(files), '.waypost/types.d.ts': types })
  mediaBodies.forEach(([key, body, expected], index) => {
    const said = errors.filter((line) => line.startsWith(`src/m${index}.ts`)).join('\n')
    assert.match(said, expected, `${key}: ${body}`)
  })
})
