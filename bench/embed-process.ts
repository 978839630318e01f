// A server of the embedded rows in `bench/tables.ts` in its own process, with a PostgreSQL of its own.
import pg from 'pg'
import { startPostgres } from '../test/support/postgres.ts'
import { openProjectServer } from '../test/support/project-server.ts'
import { isTiny } from './scale.ts'
import { openHandWritten, signIn, subjectOf, type HandWritten } from './tables-process.ts'
import { reportServer } from './turns.ts'

const at = '/order?embed=customer,lines'
const roles: Readonly<Record<string, () => Promise<void>>> = {
  'embed-waypost': serveTable,
  'embed-one': () => serveHandWritten(readInOne),
  'embed-three': () => serveHandWritten(readInThree),
}

const files = {
  'waypost.yml': `
action:
  Orders:
    class: sql-table
    config:
      table: app_order
      columns: [id, total, note, insert_date]
      owner: user_id
      sort: [-insert_date, -id]
      embed:
        customer: { from: Customers, by: customer_id, columns: [id, name] }
        lines: { from: Lines, by: order_id, limit: 20 }
  Customers: { class: sql-table, config: { table: app_customer, columns: [id, name, email] } }
  Lines: { class: sql-table, config: { table: app_line, columns: [id, sku, quantity], owner: { through: order_id } } }
routes:
  /order: { scopes: [order], methods: { GET: { action: Orders } } }
  /customer: { scopes: [order], methods: { GET: { action: Customers } } }
  /line: { scopes: [order], methods: { GET: { action: Lines } } }
`,
  'migrations/System/20260101-create-app-order.yml': `
create_table:
  app_customer:
    columns: { id: id, name: text(100), email: text(100) }
  app_order:
    columns:
      id: id
      user_id: uuid
      customer_id: { type: bigint, references: app_customer }
      total: integer
      note: text(200)
      insert_date: timestamp
    index: [[user_id, insert_date, id]]
  app_line:
    columns:
      id: id
      order_id: { type: bigint, references: app_order }
      sku: text(40)
      quantity: integer
    index: [[order_id, id]]
`,
}

/** 100 customers, 17 orders of the user and 1,000 of others, and five lines for each. */
function fill(user: string): readonly string[] {
  return [
    `insert into app_customer (name, email) select 'Customer ' || n, n || '@example.com' from generate_series(1, 100) n`,
    `insert into app_order (user_id, customer_id, total, note, insert_date)
      select case when n <= 17 then cast('${user}' as uuid) else gen_random_uuid() end, 1 + n % 100, n, 'Two boxes',
        timestamptz '2026-01-01' + n * interval '1 minute' from generate_series(1, 1017) n`,
    `insert into app_line (order_id, sku, quantity)
      select o, 'SKU-' || n, n from generate_series(1, 1017) o, generate_series(1, 5) n`,
    'analyze',
  ]
}

async function serveTable(): Promise<void> {
  const postgres = await startPostgres({ durable: !isTiny })
  const systemUrl = await postgres.createDatabase()
  const server = await openProjectServer({ files, systemUrl, variables: { LOG_LEVEL: 'silent' } })
  const headers = await server.authorize('ann', ['order'])
  const [, claims = ''] = headers.authorization.split('.')
  const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly sub: string }
  const pool = new pg.Pool({ connectionString: systemUrl, max: 1 })
  for (const statement of fill(sub)) await pool.query(statement)
  await pool.end()
  reportServer({ port: server.port, request: { method: 'GET', path: at, headers } })
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const line = { type: 'object', properties: { id: integer, sku: text, quantity: integer } }
const customer = { type: ['object', 'null'], properties: { id: integer, name: text } }
const lines = { type: 'object', properties: { entry: { type: 'array', items: line }, more: { type: 'boolean' } } }
const order = {
  type: 'object',
  properties: {
    id: integer,
    total: integer,
    note: text,
    insert_date: { ...text, format: 'date-time' },
    customer,
    lines,
  },
}

type Row = Record<string, unknown>
/** Reads the orders of a user, with one more than the limit. */
type ReadOrders = (pool: HandWritten['pool'], user: string, limit: number) => Promise<readonly Row[]>

const most = 20
const toLines = (all: readonly Row[]) => ({ entry: all.slice(0, most), more: all.length > most })

async function readInOne(pool: HandWritten['pool'], user: string, limit: number): Promise<readonly Row[]> {
  const { rows } = await pool.query<Row>({
    name: 'one',
    text: `select id, total, note, insert_date,
        (select row_to_json(c) from (select id, name from app_customer where id = o.customer_id) c) as customer,
        (select coalesce(json_agg(l), '[]') from
          (select id, sku, quantity from app_line where order_id = o.id order by id limit ${most + 1}) l) as lines
      from app_order o where user_id = $1 order by insert_date desc, id desc limit $2`,
    values: [user, limit + 1],
  })
  for (const row of rows) row['lines'] = toLines(row['lines'] as Row[])
  return rows
}

async function readInThree(pool: HandWritten['pool'], user: string, limit: number): Promise<readonly Row[]> {
  const orders = await pool.query<Row>({
    name: 'orders',
    text: `select id, customer_id, total, note, insert_date from app_order
      where user_id = $1 order by insert_date desc, id desc limit $2`,
    values: [user, limit + 1],
  })
  const [customers, found] = await Promise.all([
    pool.query<Row>({
      name: 'customers',
      text: 'select id, name from app_customer where id = any($1)',
      values: [[...new Set(orders.rows.map((row) => row['customer_id']))]],
    }),
    pool.query<Row>({
      name: 'lines',
      text: 'select id, order_id, sku, quantity from app_line where order_id = any($1) order by id',
      values: [orders.rows.map(({ id }) => id)],
    }),
  ])
  const byId = new Map(customers.rows.map((row) => [row['id'], row]))
  const byOrder = Map.groupBy(found.rows, (row) => row['order_id'])
  return orders.rows.map((row) => ({
    ...row,
    customer: byId.get(row['customer_id']) ?? null,
    lines: toLines(byOrder.get(row['id']) ?? []),
  }))
}

async function serveHandWritten(read: ReadOrders): Promise<void> {
  const server = await openHandWritten(
    'order',
    `create table app_customer (id integer generated by default as identity primary key, name varchar(100) not null,
       email varchar(100) not null);
     create table app_order (id integer generated by default as identity primary key, user_id uuid not null,
       customer_id integer not null references app_customer, total integer not null, note varchar(200) not null,
       insert_date timestamptz(3) not null);
     create index on app_order (user_id, insert_date, id);
     create table app_line (id integer generated by default as identity primary key,
       order_id integer not null references app_order, sku varchar(40) not null, quantity integer not null);
     create index on app_line (order_id, id)`,
  )
  const { app, pool, guard } = server
  const querystring = {
    type: 'object',
    additionalProperties: false,
    properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 16 }, embed: text },
  }
  const response = {
    200: { type: 'object', properties: { entry: { type: 'array', items: order }, next: { type: ['string', 'null'] } } },
  }
  const schema = { querystring, response }
  app.get<{ Querystring: { limit: number } }>('/order', { onRequest: guard, schema }, async (request) => {
    const { limit } = request.query
    const rows = await read(pool, subjectOf(request), limit)
    const last = rows.length > limit ? rows[limit - 1] : undefined
    const next = last && Buffer.from(JSON.stringify([last['insert_date'], last['id']])).toString('base64url')
    return { entry: rows.slice(0, limit), next: next ?? null }
  })
  const { port, headers, subject } = await signIn(server, 'order')
  for (const statement of fill(subject)) await pool.query(statement)
  reportServer({ port, request: { method: 'GET', path: at, headers } })
}

if (import.meta.main) await roles[process.argv[2] ?? '']?.()
