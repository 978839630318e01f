// A server of `bench/tables.ts` in its own process, with a PostgreSQL of its own.
import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import pg from 'pg'
import { openProjectServer, type Files } from '../test/support/project-server.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { loadPeer, type JwtRequest, type JwtSigner } from './peers.ts'
import { isTiny } from './scale.ts'
import { reportServer } from './turns.ts'

const user = 'ann'
const json = { 'content-type': 'application/json' }
export const tableRequests = {
  'GET of 16 rows': { method: 'GET', path: '/order' },
  POST: { method: 'POST', path: '/order', headers: json, body: JSON.stringify({ total: 1999, note: 'Two boxes' }) },
} as const
const rowsOfBulk = 500
export const bulkRequests = {
  'POST of 500 rows': {
    method: 'POST',
    path: '/orders',
    headers: json,
    body: JSON.stringify(Array.from({ length: rowsOfBulk }, (_, total) => ({ total, note: `Box ${total}` }))),
  },
} as const
export const todoRequests = {
  'GET of 16 to-dos': { method: 'GET', path: '/todo?startIndex=0' },
  'POST of a to-do': {
    method: 'POST',
    path: '/todo',
    headers: json,
    body: JSON.stringify({ title: 'Buy milk', content: 'Two bottles' }),
  },
} as const

const roles: Readonly<Record<string, () => Promise<void>>> = {
  'table-waypost': serveTable,
  'table-fastify': serveHandWrittenTable,
  'todo-waypost': serveTodo,
  'todo-fastify': serveHandWrittenTodo,
}

const orderColumns = ['id', 'status', 'total', 'note', 'version', 'insert_date']
const tableFiles: Files = {
  'waypost.yml': `
action:
  Orders:
    class: sql-table
    config:
      table: app_order
      columns: [${orderColumns.join(', ')}]
      write: [total, note]
      set: { status: 1, insert_date: $now }
      where: { status: 1 }
      delete: { status: 0 }
      owner: user_id
      version: version
      bulk: ${rowsOfBulk}
      sort: [-insert_date, -id]
routes:
  /order: { scopes: [order], methods: { GET: { action: Orders }, POST: { action: Orders } } }
  /orders: { scopes: [order], methods: { POST: { action: Orders } } }
`,
  'migrations/System/20260101-create-app-order.yml': `
create_table:
  app_order:
    columns:
      id: id
      user_id: uuid
      status: integer
      total: integer
      note: text(200)
      version: { type: integer, default: 1 }
      insert_date: timestamp
    index: [[user_id, status, insert_date, id]]
`,
}

async function serveTable(): Promise<void> {
  const server = await openWaypost(tableFiles)
  const headers = await server.authorize(user, ['order'])
  const url = `${server.url}/order`
  for (let count = 0; count < 16; count += 1)
    await fetch(url, { method: 'POST', headers: { ...headers, ...json }, body: tableRequests.POST.body })
  reportServer({ port: server.port, request: { method: 'GET', path: '/order', headers } })
}

async function openWaypost(files: Files) {
  const postgres = await startPostgres({ durable: !isTiny })
  return openProjectServer({
    files,
    systemUrl: await postgres.createDatabase(),
    variables: { LOG_LEVEL: 'silent' },
  })
}

/** The to-do routes of the template `todo`, behind a scope. */
async function serveTodo(): Promise<void> {
  const folder = path.join(import.meta.dirname, '../templates/todo')
  const names = [
    'waypost.yml',
    'resources/schema.yml',
    'resources/routes/todo/collection.yml',
    'resources/routes/todo/entity.yml',
    'migrations/System/20261120-create-app-todo.ts',
    ...['collection', 'entity', 'insert', 'update', 'delete'].map((name) => `src/todo/${name}.ts`),
  ]
  const files: Record<string, string> = {}
  for (const name of names) files[name] = await readFile(path.join(folder, name), 'utf8')
  const name = 'resources/routes/todo/collection.yml'
  files[name] = files[name]!.replace(/^.*public: true.*\n/gm, '')
  const server = await openWaypost(files)
  const headers = await server.authorize(user, ['todo'])
  for (let count = 0; count < 16; count += 1)
    await fetch(`${server.url}/todo`, {
      method: 'POST',
      headers: { ...headers, ...json },
      body: todoRequests['POST of a to-do'].body,
    })
  reportServer({ port: server.port, request: { method: 'GET', path: '/todo', headers } })
}

export interface HandWritten {
  readonly app: FastifyInstance
  readonly pool: pg.Pool
  /** Verifies the token and its scope, as `onRequest`. */
  readonly guard: (request: FastifyRequest) => Promise<void>
}

/** Fastify with @fastify/jwt (ES256) and pg, as a careful developer writes it. */
export async function openHandWritten(scope: string, tables: string): Promise<HandWritten> {
  const postgres = await startPostgres({ durable: !isTiny })
  const pool = new pg.Pool({ connectionString: await postgres.createDatabase(), max: 10 })
  pool.on('error', () => undefined) // PostgreSQL ends with this process
  await pool.query(tables)
  const pair = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const app = Fastify()
  const { jwt } = await loadPeer('@fastify/jwt')
  await app.register(jwt, {
    secret: { private: pair.privateKey, public: pair.publicKey },
    sign: { algorithm: 'ES256', expiresIn: '1h' },
  })
  const guard = async (request: FastifyRequest) => {
    const { scope: scopes } = await (request as FastifyRequest & JwtRequest).jwtVerify<{ scope: string }>()
    if (!scopes.split(' ').includes(scope)) throw Object.assign(new Error('insufficient scope'), { statusCode: 403 })
  }
  return { app, pool, guard }
}

/** Of the token that `@fastify/jwt` has verified. */
export function subjectOf(request: object): string {
  return (request as { readonly user: { readonly sub: string } }).user.sub
}

const subject = '3f0c4c1e-5f6e-4b1c-9c53-2f5f5a1d0b11'

/** Lets a server listen, and makes a token of a user. */
export async function signIn({ app }: HandWritten, scope: string) {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const token = (app as typeof app & JwtSigner).jwt.sign({ sub: subject, scope, client_id: 'x' })
  const { port } = app.server.address() as AddressInfo
  return { port, headers: { authorization: `Bearer ${token}` }, subject }
}

async function reportHandWritten(server: HandWritten, at: string, scope: string): Promise<void> {
  const { port, headers } = await signIn(server, scope)
  const body = at === '/order' ? tableRequests.POST.body : todoRequests['POST of a to-do'].body
  for (let count = 0; count < 16; count += 1)
    await fetch(`http://127.0.0.1:${port}${at}`, { method: 'POST', headers: { ...headers, ...json }, body })
  reportServer({ port, request: { method: 'GET', path: at, headers } })
}

const order = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    status: { type: 'integer' },
    total: { type: 'integer' },
    note: { type: 'string' },
    version: { type: 'integer' },
    insert_date: { type: 'string', format: 'date-time' },
  },
}

async function serveHandWrittenTable(): Promise<void> {
  const server = await openHandWritten(
    'order',
    `create table app_order (
       id integer generated by default as identity primary key, user_id uuid not null, status integer not null,
       total integer not null, note varchar(200) not null, version integer not null default 1,
       insert_date timestamptz(3) not null);
     create index on app_order (user_id, status, insert_date, id)`,
  )
  const { app, pool, guard } = server
  const columns = orderColumns.join(', ')
  const list = `select ${columns} from app_order where user_id = $1 and status = 1
    order by insert_date desc, id desc limit $2`
  app.get<{ Querystring: { limit: number } }>(
    '/order',
    {
      onRequest: guard,
      schema: {
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 16 } },
        },
        response: {
          200: {
            type: 'object',
            properties: { entry: { type: 'array', items: order }, next: { type: ['string', 'null'] } },
          },
        },
      },
    },
    async (request) => {
      const { limit } = request.query
      const { rows } = await pool.query<{ id: number; insert_date: Date }>({
        name: 'list',
        text: list,
        values: [subjectOf(request), limit + 1],
      })
      const last = rows.length > limit ? rows[limit - 1] : undefined
      const next = last && Buffer.from(JSON.stringify([last.insert_date, last.id])).toString('base64url')
      return { entry: rows.slice(0, limit), next: next ?? null }
    },
  )
  const insert = `insert into app_order (user_id, status, total, note, insert_date) values ($1, 1, $2, $3, $4)
    returning ${columns}`
  const sent = {
    type: 'object',
    required: ['total', 'note'],
    additionalProperties: false,
    properties: { total: { type: 'integer' }, note: { type: 'string', maxLength: 200 } },
  }
  type Sent = { readonly total: number; readonly note: string }
  app.post<{ Body: readonly Sent[] }>(
    '/orders',
    {
      onRequest: guard,
      schema: {
        body: { type: 'array', items: sent, minItems: 1, maxItems: rowsOfBulk },
        response: { 201: { type: 'array', items: order } },
      },
    },
    async (request, reply) => {
      const { body } = request
      const places = body.map((_, index) => `($1, 1, $${index * 2 + 3}, $${index * 2 + 4}, $2)`)
      const { rows } = await pool.query({
        name: `insert ${body.length}`,
        text: `insert into app_order (user_id, status, total, note, insert_date) values ${places.join(', ')}
          returning ${columns}`,
        values: [subjectOf(request), new Date(), ...body.flatMap(({ total, note }) => [total, note])],
      })
      reply.code(201)
      return rows
    },
  )
  app.post<{ Body: Sent }>(
    '/order',
    { onRequest: guard, schema: { body: sent, response: { 201: order } } },
    async (request, reply) => {
      const { body } = request
      const values = [subjectOf(request), body.total, body.note, new Date()]
      const { rows } = await pool.query<{ id: number; version: number }>({ name: 'insert', text: insert, values })
      const [row] = rows
      reply.code(201).headers({ location: `/order/${row!.id}`, etag: `"${row!.version}"` })
      return row
    },
  )
  await reportHandWritten(server, '/order', 'order')
}

async function serveHandWrittenTodo(): Promise<void> {
  const server = await openHandWritten(
    'todo',
    `create table app_todo (
       id integer generated by default as identity primary key, status integer not null, title varchar(64) not null,
       content text not null, insert_date timestamptz(3) not null);
     create index on app_todo (status, insert_date, id);
     create table message (id uuid primary key, event text not null, data text not null, created_at timestamptz not null)`,
  )
  const { app, pool, guard } = server
  const todo = {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      status: { type: 'integer' },
      title: { type: 'string' },
      content: { type: 'string' },
      insert_date: { type: 'string', format: 'date-time' },
    },
  }
  app.get<{ Querystring: { startIndex: number } }>(
    '/todo',
    {
      onRequest: guard,
      schema: {
        querystring: {
          type: 'object',
          additionalProperties: false,
          properties: { startIndex: { type: 'integer', minimum: 0, default: 0 } },
        },
        response: {
          200: {
            type: 'object',
            properties: {
              totalResults: { type: 'integer' },
              startIndex: { type: 'integer' },
              itemsPerPage: { type: 'integer' },
              entry: { type: 'array', items: todo },
            },
          },
        },
      },
    },
    async ({ query: { startIndex } }) => {
      const count = await pool.query<{ count: string }>('select count(*) as count from app_todo where status = 1')
      const { rows } = await pool.query({
        name: 'todos',
        text: 'select * from app_todo where status = 1 order by insert_date desc, id desc limit $1 offset $2',
        values: [16, startIndex],
      })
      return { totalResults: Number(count.rows[0]!.count), startIndex, itemsPerPage: 16, entry: rows }
    },
  )
  app.post<{ Body: { title: string; content: string } }>(
    '/todo',
    {
      onRequest: guard,
      schema: {
        body: {
          type: 'object',
          required: ['title', 'content'],
          additionalProperties: false,
          properties: { title: { type: 'string', minLength: 1, maxLength: 64 }, content: { type: 'string' } },
        },
      },
    },
    async ({ body: { title, content } }, reply) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const { rows } = await client.query<{ id: number }>({
          name: 'insert',
          text: 'insert into app_todo (status, title, content, insert_date) values (1, $1, $2, $3) returning *',
          values: [title, content, new Date()],
        })
        const values = [crypto.randomUUID(), 'todo_created', JSON.stringify(rows[0]), new Date()]
        await client.query({ name: 'message', text: 'insert into message values ($1, $2, $3, $4)', values })
        await client.query('commit')
        reply.code(201)
        return { success: true, message: 'To-do created', id: rows[0]!.id }
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
  )
  await reportHandWritten(server, '/todo', 'todo')
}

if (import.meta.main) await roles[process.argv[2] ?? '']?.()
