import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { actionFile, describeEachSystem, openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send } from '../support/send.ts'

async function makeTables(server: ProjectServer): Promise<void> {
  const { db } = server.host.system
  await db.schema
    .createTable('app_author')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .execute()
  await db.schema
    .createTable('app_book')
    .addColumn('isbn', 'text', (column) => column.unique())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('shelf', 'integer')
    .addColumn('place', 'integer')
    .addColumn('price', 'integer')
    .addColumn('inner_code', 'text', (column) => column.unique())
    .addColumn('author_id', 'integer', (column) => column.references('app_author.id'))
    .addUniqueConstraint('place_is_free', ['shelf', 'place'])
    .addCheckConstraint('price_is_sane', sql`price > 0`)
    .execute()
}

const yml = `
routes:
  /author/:id:
    path: { id: { type: integer } }
    methods:
      PUT: { public: true, action: src/author.ts }
      DELETE: { public: true, action: src/forget.ts }
  /book:
    methods:
      POST: { public: true, request: Book, response: { type: object }, action: src/book.ts }
  /book/:isbn:
    methods:
      PUT: { public: true, action: src/named.ts }
  /late:
    methods:
      GET: { public: true, action: src/late.ts }
      POST: { public: true, request: Book, action: src/late.ts }
  /caught:
    methods:
      POST: { public: true, request: Book, action: src/caught.ts }
  /own:
    methods:
      POST: { public: true, action: src/own.ts }
schema:
  Book:
    type: object
    properties:
      isbn: { type: string }
      title: { type: [string, 'null'] }
      shelf: { type: integer }
      place: { type: integer }
      price: { type: integer }
      authorId: { type: integer }
`

const insert = `const { authorId, ...rest } = request.body
await db.insertInto('app_book').values({ ...rest, ...(authorId === undefined ? {} : { author_id: authorId }) }).execute()`

const files = {
  'waypost.yml': yml,
  'src/author.ts': actionFile(
    `await context.connection('System').insertInto('app_author').values(request.params).execute()`,
  ),
  'src/forget.ts': actionFile(
    `await context.connection('System').deleteFrom('app_author').where('id', '=', request.params.id).execute()`,
  ),
  'src/book.ts': actionFile(
    `await context.transaction('System', (db: any) => insertBook(request, db))\nreturn {}`,
    `async function insertBook(request: any, db: any) {\n${insert}\n}`,
  ),
  'src/named.ts': actionFile(
    `await context.connection('System').insertInto('app_book').values({ ...request.params, title: 't' }).execute()`,
  ),
  // Callers do not know inner_code.
  'src/late.ts': actionFile(
    `await context.connection('System').insertInto('app_book').values({ title: 'x', inner_code: '1471147114' }).execute()`,
  ),
  'src/caught.ts': actionFile(
    `const db = context.connection('System')
     const told: unknown[] = [isConflict(new Error('no')), isConflict(undefined)]
     try { ${insert} } catch (error) { told.push(isConflict(error), isConflict(error, 'isbn'), isConflict(error, 'title')) }
     throw context.problem(418, JSON.stringify(told))`,
    `import { isConflict } from 'waypost'`,
  ),
  // Constraints of Waypost's own tables are not shown to callers.
  'src/own.ts': actionFile(
    `await context.connection('System').insertInto('waypost_active').values({ id: 1, release_id: null, activated_at: null, activated_by: null }).execute()`,
  ),
}

const book = (more: object) => ({ title: 'Stories', ...more })

/** Returns the body sent after `first`, and the response: its detail, and path and message of its errors. */
const cases: readonly {
  what: string
  path?: string
  method?: string
  first?: object
  sent?: object
  detail: string
  problems: readonly string[]
}[] = [
  {
    what: 'a unique column',
    first: book({ isbn: 'a-1' }),
    sent: book({ isbn: 'a-1' }),
    detail: 'A value that must be unique is already taken',
    problems: ['body/isbn is already taken'],
  },
  {
    what: 'a unique column that comes in the path',
    path: '/book/a-1',
    method: 'PUT',
    first: book({ isbn: 'a-1' }),
    sent: {},
    detail: 'A value that must be unique is already taken',
    problems: ['path/isbn is already taken'],
  },
  {
    what: 'two columns that are unique together',
    first: book({ shelf: 1, place: 2 }),
    sent: book({ shelf: 1, place: 2 }),
    detail: 'A value that must be unique is already taken',
    problems: ['body/shelf is already taken in this combination', 'body/place is already taken in this combination'],
  },
  {
    what: 'a reference to nothing',
    sent: book({ authorId: 77 }),
    detail: 'A resource that the request refers to does not exist',
    problems: ['body/authorId refers to something that does not exist'],
  },
  {
    what: 'a check',
    sent: book({ price: -5 }),
    detail: 'A value is not allowed',
    problems: ['body/price is not allowed'],
  },
  {
    what: 'a missing value',
    sent: { price: 3 },
    detail: 'A required value is missing',
    problems: ['body/title is required'],
  },
  {
    what: 'a value that is null',
    sent: { title: null },
    detail: 'A required value is missing',
    problems: ['body/title is required'],
  },
  {
    what: 'a column that callers do not know',
    path: '/late',
    first: book({}),
    sent: book({}),
    detail: 'A value that must be unique is already taken',
    problems: [],
  },
]

describeEachSystem('a constraint that an action violates', ({ newSystem }) => {
  let server: ProjectServer
  before(async () => {
    server = await openProjectServer({ systemUrl: await newSystem(), files })
    await makeTables(server)
  })
  after(() => server[Symbol.asyncDispose]())
  const call = (path: string, body: object, method = 'POST') => send(server.port, { method, path, body })

  for (const { what, path = '/book', method = 'POST', first, sent = {}, detail, problems } of cases) {
    test(`${what}: 409, with the field if it is known`, async () => {
      if (first !== undefined) await call(path === '/late' ? path : '/book', first)
      const { length } = server.logs
      const { status, headers, body, text } = await call(path, sent, method)
      assert.deepEqual([status, headers['content-type']], [409, 'application/problem+json'], text)
      assert.equal(body.type, 'urn:waypost:errors#WP_RUNTIME_CONFLICT')
      assert.equal(body.detail, detail)
      assert.deepEqual(
        ((body.errors ?? []) as Problem[]).map((one) => `${one.path} ${one.message}`),
        problems,
      )
      assert.doesNotMatch(text, /insert|app_|inner|a-1|1471147114|77|place_is|price_is|constraint/i)
      const line = server.logs.slice(length).find((one) => 'err' in one) as unknown as Logged
      const frame = path === '/book' ? /^at (async )?insertBook \(src\/book.ts:3:.*\)$/ : /^at .*src\/.*$/
      assert.match(line.err.stack, frame)
      assert.match(line.err.statement, /^insert into "app_book" \(.*\) values \([?$]/)
      assert.doesNotMatch(JSON.stringify(line), /a-1|1471147114|T. H. White|Failing row|already exists/)
    })
  }

  // `send` compares the answer with its description.
  test('also for a GET whose code writes', async () => {
    await call('/late', book({}))
    assert.equal((await send(server.port, { path: '/late' })).status, 409)
  })

  test('a row that is still referenced cannot be deleted', async () => {
    await call('/author/5', {}, 'PUT')
    await call('/book', book({ authorId: 5 }))
    const { status, body } = await call('/author/5', {}, 'DELETE')
    assert.deepEqual([status, body.detail], [409, 'Other data still refers to it'])
    assert.deepEqual(body.errors, [{ path: 'path/id', message: 'is still referred to' }])
  })

  test('is caught by isConflict, of any column or of one', async () => {
    await call('/book', book({ isbn: 'c-1' }))
    const { body } = await call('/caught', book({ isbn: 'c-1' }))
    assert.deepEqual(JSON.parse(body.detail), [false, false, true, true, false])
  })

  test("of Waypost's own tables is a mistake of the server", async () => {
    assert.equal((await call('/own', {})).status, 500)
  })
})

interface Logged {
  readonly err: { readonly stack: string; readonly statement: string }
}

interface Problem {
  readonly path: string
  readonly message: string
}
