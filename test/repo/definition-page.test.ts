import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { examples, makeDefinitionPage } from '../../bin/write-definition.ts'
import { loadDefinition } from '../../src/definition/index.ts'
import { validateProject } from '../../src/project/index.ts'
import { isLong } from '../support/forms.ts'
import { writeFiles } from '../support/project-server.ts'

const root = path.join(import.meta.dirname, '../..')

test('docs/definition.md describes what validate checks, with an example for each key', () => {
  assert.equal(readFileSync(path.join(root, 'docs/definition.md'), 'utf8'), makeDefinitionPage())
})

type Section = Readonly<Record<string, unknown>>

/** The entries that examples refer to, and the place of each example. */
const everything: Record<string, Section> = {
  routes: {
    '/open': { methods: { GET: { public: true, response: 'Todo', action: 'src/todo/entity.ts' } } },
    '/todo/:todo_id': {
      scopes: ['todo'],
      path: { todo_id: { type: 'integer' } },
      methods: { POST: { request: 'Todo-Input', response: 'Todo', action: 'src/todo/insert.ts' } },
    },
  },
  static: { '/assets': { folder: 'public' } },
  schema: {
    Todo: { type: 'object', properties: { id: { type: 'integer' } } },
    'Todo-Input': { type: 'object' },
    Message: { type: 'object' },
    Conflict: { type: 'object' },
  },
  connection: { Orders: { class: 'postgresql', config: { url: 'postgresql://localhost/orders' } } },
  event: { todo_created: { schema: 'Todo', scopes: ['todo'] } },
  action: { Ping: { class: 'example-class', config: { text: 'ping' } } },
  scope: { todo: {}, 'todo.write': {} },
  listener: { notify: { event: 'todo_created', action: 'src/notify.ts' } },
  cronjob: { tidy: { schedule: '0 0 * * *', action: 'src/tidy.ts' } },
  rate: { gentle: { limit: 1, window: '1s' } },
  env: { STOCK_URL: {} },
  config: {},
}
const plugins = ['waypost-plugin-example', { name: 'waypost-plugin-other' }]
const { action: _, ...withoutPlugins } = everything

const classes = `{ 'example-class': { description: '', config: { type: 'object' }, make: () => ({}) } }`
const connections = `{ 'example-counter': { description: '', clientType: 'object', capabilities: ['count'], config: {}, open: () => ({}) } }`
const pack = (name: string, actions: string, more = '') => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({
    name,
    version: '1.0.0',
    type: 'module',
    exports: './index.js',
  }),
  [`node_modules/${name}/index.js`]: `export default { name: '${name}', requires: '*', config: {}, actions: ${actions}${more} }`,
})
const action = 'export default class Sample { handle() {} }'
const files = {
  'package.json': '{}',
  ...pack('waypost-plugin-example', classes, `, connections: ${connections}`),
  ...pack('waypost-plugin-other', '{}'),
  'public/index.html': '<h1>Hello</h1>',
  'app/dist/index.html': '<h1>App</h1>',
  'plugins/greetings.ts': `export default { name: 'greetings' }`,
  ...Object.fromEntries(
    ['todo/insert', 'todo/entity', 'todo/collection', 'tidy', 'tenant', 'notify'].map((name) => [
      `src/${name}.ts`,
      action,
    ]),
  ),
  'resources/routes/todo/done.yml': 'methods: { GET: { action: src/todo/collection.ts } }\n',
  'resources/routes/todo/collection.yml': 'methods: { GET: { public: true, action: src/todo/collection.ts } }\n',
}

/** Returns the definition that contains an example in its place. */
function place(where: string, example: string): string {
  const [section = '', key] = where.split('.')
  // Each plugin takes a process to describe.
  const usesPlugins = section === 'plugins' || where.includes('action') || where === 'rate.connection'
  const connection = { ...everything['connection'], Cache: { class: 'example-counter' } }
  const around = usesPlugins ? { ...everything, connection, plugins } : withoutPlugins
  if (key === undefined) {
    // As written, because of its tags. Entries that others refer to in the same section stay.
    const { [section]: replaced, ...others }: Record<string, unknown> = around
    const rest = section === 'schema' ? stringify({ 'Todo-Input': (replaced as Section)['Todo-Input'] }) : ''
    return `${stringify(others)}${example}\n${rest.replaceAll(/^(?=.)/gm, '  ')}`
  }
  const given = parse(example) as Section
  if (section === 'plugins')
    return stringify({ ...around, plugins: [plugins[0], { ...(plugins[1] as Section), ...given }] })
  if (section === 'config') return stringify({ ...around, config: given })
  const changed = structuredClone(around) as Record<string, Record<string, Record<string, unknown>>>
  const entry = Object.values(changed[section === 'method' ? 'routes' : section]!).at(-1)!
  const target = section === 'method' ? (entry['methods'] as Record<string, Record<string, unknown>>)['POST']! : entry
  // Only one of two equivalent keys is allowed.
  if (key === 'responses') delete target['response']
  if (key === 'methods') delete entry['methods']
  if (section === 'routes' && key === 'description') entry['routes'] = { '/done': { methods: entry['methods'] } }
  // `validate` warns about these in a public method.
  if (key === 'public') target['rate'] = 'gentle'
  if (key === 'public' || key === 'methods') delete entry['scopes']
  if (key === 'private') delete entry['scopes']
  // Only public methods that read can be kept by caches that several callers share.
  if (key === 'cache') {
    delete entry['scopes']
    entry['methods'] = { GET: { public: true, action: target['action'], ...given } }
  } else Object.assign(target, given)
  return stringify(changed)
}

describe('the example in docs/definition.md of', () => {
  let folder: string
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'waypost-examples-'))
    await writeFiles(folder, files)
  })
  after(() => rmSync(folder, { recursive: true }))
  const check = async (text: string) => {
    await writeFiles(folder, { 'waypost.yml': text })
    // In CI, examples that need no plugin are loaded only: what validate builds beside them is the same for all.
    const { diagnostics } = await (isLong || text.includes('plugins:') ? validateProject : loadDefinition)(folder)
    const used = diagnostics.filter(({ code }) => code !== 'WP_DEFINITION_SCHEMA_UNUSED')
    return used.map(({ message }) => message)
  }

  for (const [where, example] of Object.entries(examples)) {
    test(`${where} is valid`, async () => {
      const text = place(where, example)
      assert.deepEqual(await check(text), [])
    })
  }

  test('anything else would be noticed', async () => {
    assert.deepEqual(await check(place('rate.limit', 'limit: none')), [
      '"limit" must be an integer of at least 1, not "none"',
    ])
  })
})
