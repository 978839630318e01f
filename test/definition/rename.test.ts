import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EditRefused, loadDefinition, openEditing, rename, type ClassCatalog } from '../../src/definition/index.ts'
import { makeProject } from './project.ts'

const files = {
  'waypost.yml': `# the API
routes:
  /todo/:id: !include routes/todo.yml # one
  /list:
    scopes: [todo, other]
    rate: "few"
    methods:
      GET:
        parameters: { state: State, title: { type: string, title: Todo } }
        responses: { 200: { type: array, items: { $ref: "schema:///Todo" } } } # all
        action: Read
      POST:
        scopes: [ todo ] # writers
        request: Todo
        dispatch: todo_made
        action: { class: sql-table, config: { connection: Main, scope: todo, fields: { a: todo } } }
schema: !include schema.yml
connection:
  Main: { class: http }
event:
  todo_made: { schema: Todo, scopes: [todo] } # made
action:
  Read:
    class: send
    config: { event: todo_made, text: todo_made }
scope: { todo: { description: To-dos }, other: }
cronjob:
  tidy: { schedule: "0 4 * * *", action: Read }
rate:
  few: { limit: 3, window: 1m, connection: Main }
config: { scopes_default: [todo] }
`,
  'routes/todo.yml': `path:
  id: { type: integer } # its id
methods:
  GET: { public: true, response: 'Todo', action: Read }
  PUT: { scopes: [todo], request: { $ref: "schema:///Todo#/properties/title" }, action: Read }
`,
  'schema.yml': `# schemas
Todo:
  type: object
  properties: { title: { type: string }, next: { $ref: schema:///Todo }, part: { $ref: part.json#/a } }
State: { type: string }
Other: Todo
`,
  'part.json': '{ "a": { "$ref": "schema:///Todo" } }',
}

const text = { type: 'string' } as const
const classes: ClassCatalog = {
  connections: { http: { config: { type: 'object' }, capabilities: [] } },
  actions: {
    'sql-table': {
      config: {
        type: 'object',
        properties: {
          connection: { ...text, 'x-waypost': 'connection' },
          scope: { $ref: '#/$defs/scope' },
          fields: { type: 'object', additionalProperties: { anyOf: [{ $ref: '#/$defs/scope' }, { type: 'null' }] } },
        },
        $defs: { scope: { ...text, 'x-waypost': 'scope' } },
      },
    },
    send: { config: { type: 'object', properties: { event: { ...text, 'x-waypost': 'event' }, text } } },
  },
}

interface Case {
  readonly at: readonly [string, string]
  readonly to: string
  /** What changes: the old and the new form, by file. */
  readonly changes: Readonly<Record<string, readonly (readonly [string | RegExp, string])[]>>
  readonly uses: readonly string[]
}

const cases: readonly Case[] = [
  {
    at: ['schema', 'Todo'],
    to: 'To-Do',
    changes: {
      'waypost.yml': [
        ['schema:///Todo', 'schema:///To-Do'],
        ['request: Todo', 'request: To-Do'],
        ['schema: Todo', 'schema: To-Do'],
      ],
      'routes/todo.yml': [
        ["'Todo'", "'To-Do'"],
        ['schema:///Todo', 'schema:///To-Do'],
      ],
      'schema.yml': [
        ['\nTodo:', '\nTo-Do:'],
        ['schema:///Todo', 'schema:///To-Do'],
        ['Other: Todo', 'Other: To-Do'],
      ],
      'part.json': [['schema:///Todo', 'schema:///To-Do']],
    },
    uses: [
      '/event/todo_made/schema waypost.yml:21',
      '/routes/~1list/methods/GET/responses/200/items/$ref waypost.yml:10',
      '/routes/~1list/methods/POST/request waypost.yml:14',
      '/routes/~1todo~1:id/methods/GET/response routes/todo.yml:4',
      '/routes/~1todo~1:id/methods/PUT/request/$ref routes/todo.yml:5',
      '/schema/Other schema.yml:6',
      '/schema/Todo/properties/next/$ref schema.yml:4',
      'undefined part.json:1',
    ],
  },
  {
    at: ['scope', 'todo'],
    to: 'todo.write',
    changes: {
      'waypost.yml': [
        ['[todo, other]', '[todo.write, other]'],
        ['[ todo ]', '[ todo.write ]'],
        ['scope: todo,', 'scope: todo.write,'],
        ['a: todo', 'a: todo.write'],
        [/\[todo\]/g, '[todo.write]'],
        ['{ todo:', '{ todo.write:'],
      ],
      'routes/todo.yml': [['[todo]', '[todo.write]']],
    },
    uses: [
      '/config/scopes_default/0 waypost.yml:31',
      '/event/todo_made/scopes/0 waypost.yml:21',
      '/routes/~1list/methods/POST/action/config/fields/a waypost.yml:16',
      '/routes/~1list/methods/POST/action/config/scope waypost.yml:16',
      '/routes/~1list/methods/POST/scopes/0 waypost.yml:13',
      '/routes/~1list/scopes/0 waypost.yml:5',
      '/routes/~1todo~1:id/methods/PUT/scopes/0 routes/todo.yml:5',
    ],
  },
  {
    at: ['event', 'todo_made'],
    to: 'todo/created',
    changes: {
      'waypost.yml': [
        ['dispatch: todo_made', 'dispatch: todo/created'],
        ['  todo_made:', '  todo/created:'],
        ['event: todo_made', 'event: todo/created'],
      ],
    },
    uses: ['/action/Read/config/event waypost.yml:25', '/routes/~1list/methods/POST/dispatch waypost.yml:15'],
  },
  {
    at: ['action', 'Read'],
    to: 'Show',
    changes: {
      'waypost.yml': [
        [/action: Read/g, 'action: Show'],
        ['\n  Read:', '\n  Show:'],
      ],
      'routes/todo.yml': [[/action: Read/g, 'action: Show']],
    },
    uses: [
      '/cronjob/tidy/action waypost.yml:28',
      '/routes/~1list/methods/GET/action waypost.yml:11',
      '/routes/~1todo~1:id/methods/GET/action routes/todo.yml:4',
      '/routes/~1todo~1:id/methods/PUT/action routes/todo.yml:5',
    ],
  },
  {
    at: ['connection', 'Main'],
    to: '404',
    changes: {
      'waypost.yml': [
        ['connection: Main, scope', 'connection: "404", scope'],
        ['\n  Main:', '\n  404:'],
        ['connection: Main }', 'connection: "404" }'],
      ],
    },
    uses: [
      '/rate/few/connection waypost.yml:30',
      '/routes/~1list/methods/POST/action/config/connection waypost.yml:16',
    ],
  },
  {
    at: ['rate', 'few'],
    to: 'many',
    changes: {
      'waypost.yml': [
        ['"few"', '"many"'],
        ['  few:', '  many:'],
      ],
    },
    uses: ['/routes/~1list/rate waypost.yml:6'],
  },
  { at: ['cronjob', 'tidy'], to: 'clean', changes: { 'waypost.yml': [['  tidy:', '  clean:']] }, uses: [] },
  {
    at: ['routes', '/todo/:id'],
    to: '/to-do/:todo_id',
    changes: {
      'waypost.yml': [['/todo/:id:', '/to-do/:todo_id:']],
      'routes/todo.yml': [['  id:', '  todo_id:']],
    },
    uses: [],
  },
]

for (const { at, to, changes, uses } of cases) {
  test(`renames ${at[0]} ${at[1]} with all uses, and changes nothing else`, async () => {
    using project = makeProject(files)
    const renamed = rename(openEditing(project.root), at, { to, classes })
    const expected = Object.entries(changes).map(([file, replaced]) => {
      const before = files[file as keyof typeof files]
      return [file, replaced.reduce((known, [one, other]) => known.replace(one, other), before)] as const
    })
    assert.deepEqual(Object.fromEntries(renamed.files), Object.fromEntries(expected))
    assert.deepEqual(renamed.uses.map((use) => `${use.at} ${use.source}`).toSorted(), uses)
    const texts = new Map([...renamed.files].map(([file, content]) => [file, content ?? '']))
    const { diagnostics } = await loadDefinition(project.root, { texts })
    assert.deepEqual(
      diagnostics
        .map(({ message }) => message)
        .filter((message) => /nknown|not a declared|not a parameter/.test(message)),
      [],
    )
  })
}

test('parameters that exchange their names, and those of a schema of the whole path, are renamed', () => {
  const whole =
    'routes:\n  /a/:x/:y:\n    path: { x: { type: integer }, y: { type: string } }\n  /b/:x:\n    path:\n      type: object\n      properties:\n        x: { type: integer } # x\n      required: [x]\n'
  using project = makeProject({ 'waypost.yml': whole })
  const editing = openEditing(project.root)
  assert.equal(
    rename(editing, ['routes', '/a/:x/:y'], { to: '/a/:y/:x' }).files.get('waypost.yml'),
    whole.replace('/a/:x/:y', '/a/:y/:x').replace('{ x: { type: integer }, y:', '{ y: { type: integer }, x:'),
  )
  assert.equal(
    rename(editing, ['routes', '/b/:x'], { to: '/b/:b_id' }).files.get('waypost.yml'),
    whole.replace('/b/:x', '/b/:b_id').replace('        x:', '        b_id:').replace('[x]', '[b_id]'),
  )
})

test('refuses to rename what does not exist, to a name that exists, and what cannot be renamed', () => {
  using project = makeProject(files)
  const editing = openEditing(project.root)
  const refused = [
    [['schema', 'None'], 'Other', /does not exist/],
    [['schema', 'Todo'], 'State', /already exists/],
    [['config', 'x'], 'y', /cannot be renamed/],
    [['routes', '/list', 'rate'], 'y', /cannot be renamed/],
  ] as const
  for (const [at, to, reason] of refused)
    assert.throws(
      () => rename(editing, at, { to }),
      (error) => error instanceof EditRefused && reason.test(error.reason),
    )
})
