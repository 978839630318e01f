import { CompiledQuery } from 'kysely'
import { openProjectServer, type ProjectServer } from '../support/project-server.ts'
import { send, type Answer } from '../support/send.ts'
import { assertDescribed } from './admin.ts'

const migration = `
- create_table:
    shop_customer:
      columns: { id: uuid, email: text(50), name: { type: text, null: true }, active: { type: boolean, default: true } }
      key: [id]
      unique: [[email]]
    shop_order:
      columns:
        id: id
        customer_id: { type: uuid, references: shop_customer, on_delete: restrict }
        total: { type: number, default: 0 }
        count: { type: bigint, null: true }
        day: { type: date, null: true }
        at: { type: timestamp, null: true }
        meta: { type: json, null: true }
      index: [[customer_id, id]]
    shop_line:
      columns: { order_id: { type: bigint, references: shop_order }, number: integer, note: { type: text, null: true } }
      key: [order_id, number]
- add_search: { shop_customer: [name] }
`

const snapshot = {
  migrations: {},
  tables: {
    shop_log: { columns: { text: { type: 'text', null: true }, at: { type: 'integer', null: true } } },
    shop_total: {
      view: true,
      columns: { email: { type: 'text', null: true }, orders: { type: 'bigint', null: true } },
    },
  },
}

export const shopFiles = {
  'waypost.yml': 'routes: {}\n',
  'migrations/System/0001-shop.yml': migration,
  'migrations/System/tables.json': `${JSON.stringify(snapshot, undefined, 2)}\n`,
}

/** Calls the admin API with a token that has some scopes. */
export type Call = (line: string, json?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer>

export interface RowWorld extends AsyncDisposable {
  readonly server: ProjectServer
  readonly call: Call
  as(user: string, scopes: readonly string[]): Promise<Call>
  run(...statements: readonly string[]): Promise<void>
}

/** A server with a shop, whose backend shows rows. */
export async function openShop(
  systemUrl: string,
  variables: Readonly<Record<string, string>> = { WAYPOST_BACKEND_DATA: 'on' },
  more: Readonly<Record<string, string>> = {},
): Promise<RowWorld> {
  const server = await openProjectServer({ files: { ...shopFiles, ...more }, systemUrl, variables, keepsFiles: true })
  const run = async (...statements: readonly string[]) => {
    for (const text of statements) await server.host.system.db.executeQuery(CompiledQuery.raw(text))
  }
  await run(
    'create table shop_log (text text null, at integer null)',
    'create view shop_total as select email, count(*) as orders from shop_customer as c left join shop_order as o on o.customer_id = c.id group by email',
  )
  const as = async (user: string, scopes: readonly string[]): Promise<Call> => {
    const authorization = await server.authorize(user, scopes)
    return async (line, json, headers) => {
      const [method = '', target = ''] = line.split(' ')
      const answer = await send(server.port, {
        method,
        path: `/backend${target}`,
        headers: { ...authorization, ...headers },
        ...(json === undefined ? {} : { body: json }),
      })
      if (answer.status < 300) assertDescribed(method, target, answer)
      return answer
    }
  }
  return {
    server,
    run,
    as,
    call: await as('root', ['backend.data', 'backend.admin', 'backend.read']),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}
