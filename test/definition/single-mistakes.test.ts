// Each mistake gives exactly one diagnostic, without consequential errors.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, suite, test } from 'node:test'
import { loadDefinition } from '../../src/definition/index.ts'
import { showProblem } from './project.ts'

const root = 'waypost.yml'
const schema = 'resources/schema.yml'
const collection = 'resources/routes/todo/collection.yml'
const entity = 'resources/routes/todo/entity.yml'

/** The file, a text that occurs once in it, its replacement, and the code of the only problem. */
const mistakes: readonly (readonly [file: string, from: string, to: string, code: string])[] = [
  [root, 'routes:\n', 'route:\n', 'KEY_UNKNOWN'],
  [root, '\nschema:', '\nschemas:', 'KEY_UNKNOWN'],
  [root, '\nschema:', '\nshema:', 'KEY_UNKNOWN'],
  [root, 'event:\n', 'events:\n', 'KEY_UNKNOWN'],
  [root, 'collection.yml', 'colection.yml', 'INCLUDE_MISSING'],
  [root, 'entity.yml', 'entty.yml', 'INCLUDE_MISSING'],
  [root, 'resources/schema.yml', 'resources/shema.yml', 'INCLUDE_MISSING'],
  [root, 'resources/schema.yml', '../schema.yml', 'INCLUDE_OUTSIDE'],
  [root, 'resources/schema.yml', 'resources/schema.yaml.txt', 'INCLUDE_INVALID'],
  [root, 'resources/schema.yml', 'resources/schema.yml#/Tod', 'INCLUDE_POINTER'],
  [root, '!include resources/schema.yml', 'resources/schema.yml', 'VALUE_INVALID'],
  [root, '!include resources/schema.yml', '!inclde resources/schema.yml', 'TAG_UNKNOWN'],
  [root, '!include resources/schema.yml', '!include [resources/schema.yml]', 'INCLUDE_INVALID'],
  [root, '!include resources/schema.yml', '*schema', 'ALIAS_UNKNOWN'],
  [root, '  /todo: ', '  todo: ', 'PATH_INVALID'],
  [root, '  /todo: ', '  /todo/: ', 'PATH_INVALID'],
  [root, '  /todo: ', '  /docs/todo: ', 'PATH_RESERVED'],
  [root, '/todo/:todo_id', '/todo/{todo_id}', 'PATH_INVALID'],
  [root, '/todo/:todo_id', '/todo/:todoid', 'PATH_PARAMETER'],
  [root, '/todo/:todo_id', '/todo/:id', 'PATH_PARAMETER'],
  [root, '/todo/:todo_id', '/todo/id', 'PATH_PARAMETER'],
  [root, '/todo/:todo_id', '/todo/:todo_id/:other', 'PATH_PARAMETER'],
  [root, 'schema: Todo }', 'schema: Tdo }', 'SCHEMA_UNKNOWN'],
  [root, 'schema: Todo }', 'shema: Todo }', 'KEY_UNKNOWN'],
  [root, 'schema: Todo }', 'schema: [Todo] }', 'SCHEMA_INVALID'],
  [root, 'todo_created:', '"todo created":', 'NAME_INVALID'],
  [root, 'todo_created: {', 'todo_created: x {', 'YAML'],
  [root, 'schema: Todo }', 'schema: Todo', 'YAML'],
  [root, 'event:\n', 'rate: { few: { limit: 0, window: 1m } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: {} }\nevent:\n', 'KEY_MISSING'],
  [root, 'event:\n', 'static: { assets: { folder: public } }\nevent:\n', 'PATH_INVALID'],
  [root, 'event:\n', 'static: { /a/:id: { folder: public } }\nevent:\n', 'PATH_INVALID'],
  [root, 'event:\n', 'static: { /assets/: { folder: public } }\nevent:\n', 'PATH_INVALID'],
  [root, 'event:\n', 'static: { /docs/x: { folder: public } }\nevent:\n', 'PATH_RESERVED'],
  [root, 'event:\n', 'static: { /assets: { folder: . } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: ../public } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: /etc } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: .git } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: node_modules/x } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: "a\\0b" } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: public, max_age: soon } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: public, max_age: 1ms } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: public, fallback: ../index.html } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'static: { /assets: { folder: public, index: a.html } }\nevent:\n', 'KEY_UNKNOWN'],
  [root, 'event:\n', 'rate: { few: { limt: 1, window: 1m } }\nevent:\n', 'KEY_UNKNOWN'],
  [root, 'event:\n', 'rate: { few: { limit: 1, window: 1 minute } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'rate: { few: { limit: 1 } }\nevent:\n', 'KEY_MISSING'],
  [root, 'event:\n', 'rate: { few: { limit: 1, window: 1m, by: adress } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'rate: { few: { limit: 1, window: 1m, connection: Cache } }\nevent:\n', 'CONNECTION_UNKNOWN'],
  [root, 'event:\n', 'rate: { few: { limit: 1, window: 1m, connection: System } }\nevent:\n', 'RATE_CONNECTION'],
  [
    root,
    'event:\n',
    'connection: { Web: { class: http, config: { base: x } } }\nrate: { few: { limit: 1, window: 1m, connection: Web } }\nevent:\n',
    'RATE_CONNECTION',
  ],
  [
    root,
    'event:\n',
    'connection: { Web: { class: htp, config: { base: x } } }\nrate: { few: { limit: 1, window: 1m, connection: Web } }\nevent:\n',
    'CLASS_UNKNOWN',
  ],
  [root, 'event:\n', 'cronjob: { tidy: { schedule: 0 4 * *, action: src/todo/insert.ts } }\nevent:\n', 'CRON_INVALID'],
  [
    root,
    'event:\n',
    'cronjob: { tidy: { schedule: 0 25 * * *, action: src/todo/insert.ts } }\nevent:\n',
    'CRON_INVALID',
  ],
  [root, 'event:\n', 'cronjob: { tidy: { shedule: 0 4 * * *, action: src/todo/insert.ts } }\nevent:\n', 'KEY_UNKNOWN'],
  [
    root,
    'event:\n',
    'cronjob: { tidy: { schedule: 0 4 * * *, timezone: Europe/Berln, action: src/todo/insert.ts } }\nevent:\n',
    'CRON_INVALID',
  ],
  [root, 'event:\n', 'cronjob: { tidy: { schedule: 0 4 * * *, acton: src/todo/insert.ts } }\nevent:\n', 'KEY_UNKNOWN'],
  [
    root,
    'event:\n',
    'cronjob: { tidy: { schedule: 0 4 * * *, action: src/tidy.ts } }\nevent:\n',
    'BUILD_ACTION_MISSING',
  ],
  [root, 'event:\n', 'connection: { Orders: { clas: http, config: {} } }\nevent:\n', 'KEY_UNKNOWN'],
  [root, 'event:\n', 'connection: { Orders: http }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'connection: { Orders: { class: htp, config: { base: x } } }\nevent:\n', 'CLASS_UNKNOWN'],
  [root, 'event:\n', 'connection: { Orders: { class: http, config: { bse: x } } }\nevent:\n', 'CLASS_CONFIG'],
  [root, 'event:\n', 'connection: { Orders: { class: http } }\nevent:\n', 'CLASS_CONFIG'],
  [root, 'event:\n', 'connection: { Orders: { class: http, config: [] } }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'connection: { Orders: { class: http, config: { base: 1 } } }\nevent:\n', 'CLASS_CONFIG'],
  [root, 'event:\n', 'connection: { Orders: { class: http, config: { base: ${env.BASE} } } }\nevent:\n', 'YAML'],
  [
    root,
    'event:\n',
    'connection: { Orders: { class: http, config: { base: "${env.WAYPOST_BASE}" } } }\nevent:\n',
    'ENV_RESERVED',
  ],
  [root, 'event:\n', 'connection: { System: { class: http, config: { base: x } } }\nevent:\n', 'NAME_INVALID'],
  [root, 'config: { compression: true }', 'config: { token_lifetme: 1h }', 'SETTING_INVALID'],
  [root, 'config: { compression: true }', 'config: { token_lifetime: soon }', 'SETTING_INVALID'],
  [root, 'config: { compression: true }', 'config: []', 'VALUE_INVALID'],
  [root, 'event:\n', 'plugins: [Bad Name]\nevent:\n', 'NAME_INVALID'],
  [root, 'event:\n', 'plugins: a\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'scope: { todo: text }\nevent:\n', 'VALUE_INVALID'],
  [root, 'event:\n', 'action: { list: { class: none } }\nevent:\n', 'CLASS_UNKNOWN'],
  [root, 'event:\n', 'events: {}\nevent:\n', 'KEY_UNKNOWN'],
  [schema, 'Todo-Collection:\n', 'Todo-Colection:\n', 'SCHEMA_UNKNOWN'],
  [schema, 'Todo-Collection:\n', 'Todo Collection:\n', 'NAME_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  type: objct', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  tpye: object', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  type: array', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  type: [object, sting]', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  type: 1', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object', 'Todo:\n  type:', 'SCHEMA_INVALID'],
  [schema, 'Todo:\n  type: object\n', 'Todo:\n  minLength: 1\n', 'SCHEMA_INVALID'],
  [schema, 'required: [id, status,', 'required: [id, state,', 'SCHEMA_REQUIRED'],
  [schema, 'required: [id, status, title,', 'required: [id, status, titel,', 'SCHEMA_REQUIRED'],
  [schema, 'required: [id,', 'requird: [id,', 'SCHEMA_INVALID'],
  [
    schema,
    'required: [id, status, title, content, insert_date]\n  properties:',
    'required: [id, status, title, content, insert_date]\n  propertis:',
    'SCHEMA_INVALID',
  ],
  [
    schema,
    'required: [id, status, title, content, insert_date]\n  properties:',
    'required: true\n  properties:',
    'SCHEMA_INVALID',
  ],
  [
    schema,
    'required: [id, status, title, content, insert_date]\n  properties:',
    'required: [id, id]\n  properties:',
    'SCHEMA_INVALID',
  ],
  [schema, 'minLength: 1', 'minLenght: 1', 'SCHEMA_INVALID'],
  [schema, 'minLength: 1', 'minLength: -1', 'SCHEMA_INVALID'],
  [schema, 'minLength: 1', 'minimum: 1', 'SCHEMA_INVALID'],
  [schema, 'type: string, minLength: 1', 'type: sting, minLength: 1', 'SCHEMA_INVALID'],
  [schema, 'type: string, minLength: 1', 'type: String, minLength: 1', 'SCHEMA_INVALID'],
  [schema, 'type: string, minLength: 1', 'typ: string, minLength: 1', 'SCHEMA_INVALID'],
  [schema, 'type: string, minLength: 1', 'type: null, minLength: 1', 'SCHEMA_INVALID'],
  [schema, 'format: date-time', 'format: datetime', 'SCHEMA_INVALID'],
  [schema, 'format: date-time', 'pattern: "(?=x)"', 'SCHEMA_INVALID'],
  [schema, 'items: { $ref: schema:///Todo }', 'items: { $ref: schema:///Tdo }', 'SCHEMA_UNKNOWN'],
  [schema, 'items: { $ref: schema:///Todo }', 'items: { $ref: schema://Todo }', 'SCHEMA_REFERENCE'],
  [schema, 'items: { $ref: schema:///Todo }', 'items: { $ref: "#/$defs/Todo" }', 'SCHEMA_REFERENCE'],
  [schema, 'items: { $ref: schema:///Todo }', 'items: { $ref: todo.yml }', 'INCLUDE_MISSING'],
  [schema, 'items: { $ref: schema:///Todo }', 'items: Todo', 'SCHEMA_INVALID'],
  [schema, 'items: { $ref: schema:///Todo }', 'item: { $ref: schema:///Todo }', 'SCHEMA_INVALID'],
  [schema, 'type: array, items', 'type: arry, items', 'SCHEMA_INVALID'],
  [schema, '    id: { type: integer }\n    status', '    id: integer\n    status', 'SCHEMA_INVALID'],
  [schema, '    id: { type: integer }\n    status', '   id: { type: integer }\n    status', 'YAML'],
  [schema, '    id: { type: integer }\n    status', '\tid: { type: integer }\n    status', 'YAML'],
  [schema, '    status: {', '    status {', 'YAML'],
  [
    schema,
    '    status: { type: integer, description: 1 is open }',
    '    status: { type: integer, description: 1 is open',
    'YAML',
  ],
  [
    schema,
    '    status: { type: integer, description: 1 is open }',
    '    status: { type: integer, description: 1 }',
    'SCHEMA_INVALID',
  ],
  [schema, 'Message:\n', 'Todo:\n', 'KEY_DUPLICATE'],
  [
    schema,
    'Message:\n  type: object\n  required: [success, message]',
    'Message: !include message.yml\nOther:\n  type: object\n  required: [success, message]',
    'INCLUDE_MISSING',
  ],
  [collection, 'scopes: [todo]\n', '', 'SCOPE_MISSING'],
  [collection, 'scopes: [todo]\n', 'scope: [todo]\n', 'KEY_UNKNOWN'],
  [collection, 'scopes: [todo]\n', 'scopes: todo\n', 'VALUE_INVALID'],
  [collection, 'scopes: [todo]\n', 'scopes: [todo, todo]\n', 'VALUE_INVALID'],
  [collection, 'methods:', 'method:', 'KEY_UNKNOWN'],
  [collection, '  GET:', '  Get:', 'KEY_UNKNOWN'],
  [collection, 'public: true', 'pubilc: true', 'KEY_UNKNOWN'],
  [collection, 'public: true', 'public: yes', 'VALUE_INVALID'],
  [collection, 'public: true', 'public: "true"', 'VALUE_INVALID'],
  [collection, 'public: true', 'public: ${env.PUBLIC}', 'ENV_PLACE'],
  [collection, 'parameters:', 'paramters:', 'KEY_UNKNOWN'],
  [collection, 'type: integer, minimum', 'type: intger, minimum', 'SCHEMA_INVALID'],
  [collection, 'type: integer, minimum', 'type: object, minimum', 'SCHEMA_INVALID|PARAMETERS_INVALID'],
  [collection, 'type: integer, minimum: 0, default: 0', 'type: object', 'PARAMETERS_INVALID'],
  [collection, 'response: Todo-Collection', 'response: Todo-Colection', 'SCHEMA_UNKNOWN'],
  [collection, 'response: Todo-Collection', 'respons: Todo-Collection', 'KEY_UNKNOWN'],
  [collection, 'response: Todo-Collection', 'response:', 'SCHEMA_INVALID'],
  [collection, 'action: src/todo/collection.ts', 'action: src/todo/colection.ts', 'BUILD_ACTION_MISSING'],
  [collection, 'action: src/todo/collection.ts', 'acton: src/todo/collection.ts', 'KEY_UNKNOWN'],
  [collection, 'action: src/todo/collection.ts', 'action:', 'VALUE_INVALID'],
  [collection, 'action: src/todo/collection.ts', 'action: src/todo/collection', 'ACTION_UNKNOWN'],
  [collection, '    action: src/todo/collection.ts\n', '', 'KEY_MISSING'],
  [collection, 'responses: { 201: Message }', 'responses: { 201: Mesage }', 'SCHEMA_UNKNOWN'],
  [collection, 'responses: { 201: Message }', 'responses: { 2011: Message }', 'NAME_INVALID'],
  [collection, 'responses: { 201: Message }', 'responses: { 201: Message', 'YAML'],
  [collection, 'responses: { 201: Message }', 'responses: { 204: Message }', 'RESPONSE_INVALID'],
  [collection, 'request: Todo-Input', 'request: Todo-Input\n    dispatch: todo_craeted', 'EVENT_UNKNOWN'],
  [collection, 'request: Todo-Input', 'request: Todo-Input\n    rate: few', 'RATE_UNKNOWN'],
  [collection, 'request: Todo-Input', 'request: Todo-Input\n    timeout: 3 minutes', 'VALUE_INVALID'],
  [entity, 'path:\n', 'paths:\n', 'KEY_UNKNOWN'],
  [entity, '  todo_id: { type: integer }', '  todoid: { type: integer }', 'PATH_PARAMETER'],
  [entity, '  todo_id: { type: integer }', '  todo_id: { type: intger }', 'SCHEMA_INVALID'],
  [entity, '  todo_id: { type: integer }', '  todo_id: { tpye: integer }', 'SCHEMA_INVALID'],
  [entity, '  todo_id: { type: integer }', '  todo_id: integer', 'SCHEMA_UNKNOWN'],
  [entity, '  todo_id: { type: integer }', '  todo_id: { type: object }', 'PARAMETERS_INVALID'],
  [entity, '  todo_id: { type: integer }', '  todo_id: { type: integer }\n  more: { type: integer }', 'PATH_PARAMETER'],
  [entity, 'path:\n  todo_id: { type: integer }', 'path: integer', 'SCHEMA_UNKNOWN'],
  [entity, 'path:\n  todo_id: { type: integer }', 'path: [todo_id]', 'VALUE_INVALID'],
  [
    entity,
    'path:\n  todo_id: { type: integer }',
    'path: { type: objct, properties: { todo_id: { type: integer } } }',
    'SCHEMA_INVALID',
  ],
  [entity, 'scopes: [todo]\n', 'scopes: [todo\n', 'YAML'],
  [entity, 'scopes: [todo]\n', 'deprecated: tomorrow\nscopes: [todo]\n', 'VALUE_INVALID'],
  [entity, 'methods:\n', 'methods:\n  POST:\n', 'VALUE_INVALID'],
  [entity, 'methods:\n', 'methods:\n  post: { action: src/todo/insert.ts }\n', 'KEY_UNKNOWN'],
]

const classes = {
  connections: {
    http: {
      config: {
        type: 'object',
        required: ['base'],
        properties: { base: { type: 'string' } },
        additionalProperties: false,
      },
    },
  },
  actions: {},
}

suite('one mistake in the to-do project', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'waypost-mistake-'))
  cpSync(path.join(import.meta.dirname, '../../templates/todo'), folder, { recursive: true })
  after(() => rmSync(folder, { recursive: true }))

  for (const [name, from, to, code] of mistakes) {
    test(`${name}: ${JSON.stringify(to)} for ${JSON.stringify(from)} is one problem`, async () => {
      const file = path.join(folder, name)
      const text = readFileSync(file, 'utf8')
      assert.equal(text.split(from).length, 2, 'what is replaced stands there once')
      writeFileSync(
        file,
        text.replace(from, () => to),
      )
      try {
        const { diagnostics } = await loadDefinition(folder, { classes })
        assert.equal(diagnostics.length, 1, diagnostics.map(showProblem).join('\n'))
        assert.match(diagnostics[0]!.code, new RegExp(`^WP_(DEFINITION_)?(${code})$`))
      } finally {
        writeFileSync(file, text)
      }
    })
  }
})
