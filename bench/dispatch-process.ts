// The server of `bench/dispatch.ts`: a POST route that inserts a row in a transaction, and the same with a dispatch, without
// and with listeners.
import { isTiny } from './scale.ts'
import { openProjectServer } from '../test/support/project-server.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { reportServer } from './turns.ts'

const migration = `import type { Migration } from 'waypost'

export default {
  async up(db, type) {
    await db.schema
      .createTable('app_todo')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('title', 'text')
      .addColumn('content', 'text')
      .execute()
  },
} satisfies Migration
`

if (import.meta.main) await serve()

async function serve(): Promise<void> {
  const postgres = await startPostgres({ durable: !isTiny })
  const files = {
    'waypost.yml': `
routes:
  /plain: { methods: { POST: { public: true, request: Input, responses: { 201: Done }, action: src/plain.ts } } }
  /dispatched: { methods: { POST: { public: true, request: Input, responses: { 201: Done }, action: src/dispatched.ts } } }
  /listened: { methods: { POST: { public: true, request: Input, responses: { 201: Done }, action: src/listened.ts } } }
event:
  todo_created: { description: A to-do was made }
  todo_listened: { private: true }
listener:
  first: { event: todo_listened, action: src/listener.ts }
  second: { event: todo_listened, action: src/listener.ts }
  third: { event: todo_listened, action: src/listener.ts }
schema:
  Input:
    type: object
    required: [title, content]
    additionalProperties: false
    properties: { title: { type: string, minLength: 1, maxLength: 64 }, content: { type: string } }
  Done: { type: object, required: [success], properties: { success: { type: boolean } } }
`,
    'src/plain.ts': action(''),
    'src/dispatched.ts': action(`await context.dispatch('todo_created', todo)`),
    'src/listened.ts': action(`await context.dispatch('todo_listened', todo)`),
    'src/listener.ts': 'export default class { async handle() {} }',
    'migrations/System/0001-todo.ts': migration,
  }
  const server = await openProjectServer({
    files,
    variables: { LOG_LEVEL: 'silent' },
    systemUrl: await postgres.createDatabase(),
  })
  reportServer({ port: server.port })
}

function action(dispatch: string): string {
  return `export default class Insert {
  async handle({ body }: any, context: any) {
    return context.transaction('System', async (db: any) => {
      const todo = await db.insertInto('app_todo').values(body).returningAll().executeTakeFirstOrThrow()
      ${dispatch}
      return { success: true }
    })
  }
}
`
}
