import type { Definition, Location } from '../../src/definition/index.ts'
import { emptyDefinition } from './project.ts'

const at: Location = { file: 'waypost.yml', line: 1, column: 1 }
const action = (file: string) => ({ action: { file, at }, at })
const Todo = { $ref: 'schema:///Todo' }
const Message = { $ref: 'schema:///Message' }
const Input = { $ref: 'schema:///Todo-Input' }
const params = { type: 'object', required: ['todo_id'], properties: { todo_id: { type: 'integer' } } }

/** The definition of the to-do project. */
export const todoDefinition: Definition = {
  ...emptyDefinition,
  routes: [
    {
      path: '/todo',
      methods: [
        {
          method: 'GET',
          description: 'Lists the open to-dos, newest first',
          public: true,
          scopes: ['todo'],
          query: { type: 'object', properties: { startIndex: { type: 'integer', minimum: 0, default: 0 } } },
          responses: { 200: { $ref: 'schema:///Todo-Collection' } },
          ...action('src/todo/collection.ts'),
        },
        {
          method: 'POST',
          description: 'Creates a to-do',
          public: false,
          scopes: ['todo'],
          request: Input,
          responses: { 201: Message, 409: Message },
          ...action('src/todo/insert.ts'),
        },
      ],
      at,
    },
    {
      path: '/todo/:todo_id',
      methods: [
        {
          method: 'GET',
          public: true,
          scopes: ['todo'],
          params,
          responses: { 200: Todo },
          ...action('src/todo/entity.ts'),
        },
        {
          method: 'PUT',
          public: false,
          scopes: ['todo'],
          params,
          request: Input,
          responses: { 200: Message },
          ...action('src/todo/update.ts'),
        },
        {
          method: 'DELETE',
          public: false,
          scopes: ['todo'],
          params,
          responses: { 200: Message },
          ...action('src/todo/delete.ts'),
        },
      ],
      at,
    },
  ],
  schemas: {
    Todo: {
      type: 'object',
      required: ['id', 'status', 'title', 'content', 'insert_date'],
      properties: {
        id: { type: 'integer' },
        status: { type: 'integer', description: '1 is open' },
        title: { type: 'string' },
        content: { type: 'string' },
        insert_date: { type: 'string', format: 'date-time' },
      },
    },
    'Todo-Input': {
      type: 'object',
      required: ['title', 'content'],
      additionalProperties: false,
      properties: { title: { type: 'string', minLength: 1, maxLength: 64 }, content: { type: 'string' } },
    },
    'Todo-Collection': {
      type: 'object',
      required: ['totalResults', 'startIndex', 'itemsPerPage', 'entry'],
      properties: {
        totalResults: { type: 'integer' },
        startIndex: { type: 'integer' },
        itemsPerPage: { type: 'integer' },
        entry: { type: 'array', items: Todo },
      },
    },
    Message: {
      type: 'object',
      required: ['success', 'message'],
      properties: { success: { type: 'boolean' }, message: { type: 'string' }, id: { type: 'integer' } },
    },
  },
  events: { todo_created: { description: 'A to-do was created', schema: Todo } },
  scopes: { todo: {} },
}

/** The code of the to-do project. */
export const todoFiles: Readonly<Record<string, string>> = {
  'migrations/System/20261120-create-app-todo.ts': `import type { Migration } from 'waypost'

export default {
  async up(db, type) {
    await db.schema
      .createTable('app_todo')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('title', 'varchar(64)', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('insert_date', type.timestamp, (column) => column.notNull())
      .execute()
  },
  async down(db) {
    await db.schema.dropTable('app_todo').execute()
  },
} satisfies Migration
`,
  'migrations/System/tables.ts': `import type { Generated } from 'waypost'

export interface Tables {
  app_todo: { id: Generated<number>; status: number; title: string; content: string; insert_date: string }
}
`,
  'src/todo/collection.ts': `import type { Action, Context, Request } from 'waypost'

const itemsPerPage = 16

export default class TodoCollection implements Action<'GET /todo'> {
  async handle({ query }: Request<'GET /todo'>, context: Context) {
    const open = context.connection('System').selectFrom('app_todo').where('status', '=', 1)
    const { count } = await open.select((q) => q.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
    const entry = await open
      .selectAll()
      .orderBy('insert_date', 'desc')
      .orderBy('id', 'desc')
      .limit(itemsPerPage)
      .offset(query.startIndex)
      .execute()
    return { totalResults: count, startIndex: query.startIndex, itemsPerPage, entry }
  }
}
`,
  'src/todo/entity.ts': `import type { Action, Context, Request } from 'waypost'

export default class TodoEntity implements Action<'GET /todo/:todo_id'> {
  async handle({ params }: Request<'GET /todo/:todo_id'>, context: Context) {
    return context
      .connection('System')
      .selectFrom('app_todo')
      .selectAll()
      .where('id', '=', params.todo_id)
      .where('status', '=', 1)
      .executeTakeFirstOrThrow(() => context.problem(404, \`There is no to-do \${params.todo_id}\`))
  }
}
`,
  'src/todo/insert.ts': `import type { Action, Context, Request } from 'waypost'

export default class InsertTodo implements Action<'POST /todo'> {
  async handle({ body }: Request<'POST /todo'>, context: Context) {
    return context.transaction('System', async (db) => {
      const todo = await db
        .insertInto('app_todo')
        .values({ ...body, status: 1, insert_date: context.now().toISOString() })
        .returningAll()
        .executeTakeFirstOrThrow()
      await context.dispatch('todo_created', todo)
      return { success: true, message: 'To-do created', id: todo.id }
    })
  }
}
`,
  'src/todo/update.ts': `import type { Action, Context, Request } from 'waypost'

export default class UpdateTodo implements Action<'PUT /todo/:todo_id'> {
  async handle({ params, body }: Request<'PUT /todo/:todo_id'>, context: Context) {
    const { numUpdatedRows } = await context
      .connection('System')
      .updateTable('app_todo')
      .set(body)
      .where('id', '=', params.todo_id)
      .where('status', '=', 1)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw context.problem(404, \`There is no to-do \${params.todo_id}\`)
    return { success: true, message: 'To-do changed' }
  }
}
`,
  'src/todo/delete.ts': `import type { Action, Context, Request } from 'waypost'

export default class DeleteTodo implements Action<'DELETE /todo/:todo_id'> {
  async handle({ params }: Request<'DELETE /todo/:todo_id'>, context: Context) {
    const { numUpdatedRows } = await context
      .connection('System')
      .updateTable('app_todo')
      .set({ status: 0 })
      .where('id', '=', params.todo_id)
      .where('status', '=', 1)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) throw context.problem(404, \`There is no to-do \${params.todo_id}\`)
    return { success: true, message: 'To-do removed' }
  }
}
`,
}
