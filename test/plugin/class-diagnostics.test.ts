import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { validateProject } from '../../src/project/index.ts'
import { writeFiles } from '../support/project-server.ts'

const project = `connection:
  Stock: { class: http, config: { url: 'ftp://stock.example', timeout: 31s, auth: { bearer: x, header: { name: a, value: b } } } }
  Orders: { class: sqlite, config: { file: orders.db } }
rate: { any: { limit: 1, window: 1s } }
routes:
  /secret:
    methods:
      GET:
        public: true
        action:
          class: respond
          config:
            headers: { x-key: "\${env.KEY}" }
            body: { key: "\${env.KEY}" }
  /event:
    methods:
      POST: { public: true, rate: any, action: { class: dispatch, config: { event: nosuch } } }
  /proxy/:id:
    methods:
      GET: { public: true, action: { class: proxy, config: { connection: Nosuch, path: /a } } }
      PUT:
        public: true
        rate: any
        action:
          class: proxy
          config:
            connection: Orders
            path: /a/:other
            query: [page]
            headers:
              request:
                - X-Own
                - Cookie
      PATCH: { public: true, rate: any, action: { class: proxy, config: { connection: Stock, path: 'http://evil.example/' } } }
  /query:
    methods:
      GET:
        public: true
        action:
          class: sql-query
          config:
            connection: Orders
            query: |
              delete from x
              where id = :id and user_id = :user.id
`

test('problems in the config of a class are reported at their line', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-diagnostics-'))
  try {
    await writeFiles(folder, { 'waypost.yml': project, 'package.json': '{}' })
    const { diagnostics } = await validateProject(folder)
    const found = diagnostics
      .filter(({ severity }) => severity === 'error')
      .map(({ message, range }) => `${range.start.line} ${message.replace(/ pattern .*/, '')}`)
    assert.deepEqual(found, [
      '2 "config/url" must match',
      '2 "config/timeout" must match',
      '2 "config/auth" must NOT have more than 1 properties',
      '13 "config/headers/x-key" cannot contain a variable: the class needs its value when the release is built',
      '14 "config/body/key" cannot contain a variable: the class needs its value when the release is built',
      '17 Unknown event "nosuch"',
      '20 Unknown connection "Nosuch"',
      '27 The connection "Orders" does not have the class "http"',
      '28 ":other" is not a parameter of the path /proxy/:id',
      '33 The header "Cookie" cannot be passed on',
      '34 "config/path" must match',
      '43 A GET request cannot change data',
      '43 ":id" is not a parameter of the method',
      '43 ":user.id" is not available in a public method',
      '43 The method needs a response',
    ])
    const timeout = diagnostics.find(({ message }) => message.includes('config/timeout'))
    assert.equal(timeout?.hint, 'Time until a response begins, such as 5s; at most 30s')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

const geo = `
const named = (what: string) => ({ type: 'string', 'x-waypost': what })
export default {
  name: 'geo',
  actions: {
    strict: { description: 'Needs a route', routesOnly: true, config: {}, make: () => ({ handle: () => ({}) }) },
    near: {
      description: 'Finds rows near a place',
      config: {
        type: 'object',
        properties: {
          from: { type: 'object', properties: { connection: named('connection'), table: named('table'), place: named('column') } },
          table: named('table'),
          set: { type: 'object', propertyNames: named('column') },
          columns: { type: 'array', items: named('column') },
        },
      },
      describe: (config: any) => ({
        problems: (config.columns ?? []).map((_: string, index: number) => ({ at: '/columns/' + index, message: 'odd column' })),
      }),
      make: () => ({ handle: () => ({}) }),
    },
  },
}
`

const tables = `plugins: [./geo.ts]
connection: { Other: { class: sqlite, config: { file: other.db } } }
rate: { any: { limit: 1, window: 1s } }
action: { Purge: { class: sql-query, config: { query: "delete from app_order" } } }
cronjob:
  Purge: { schedule: 0 4 * * *, action: Purge }
  Own: { schedule: 0 4 * * *, action: { class: near } }
  Pass: { schedule: 0 4 * * *, action: { class: proxy, config: { connection: Other, path: / } } }
  Strict: { schedule: 0 4 * * *, action: { class: strict } }
routes:
  /own:
    methods:
      GET:
        public: true
        action:
          class: near
          config:
            from: { connection: Other, table: shop, place: citi }
            table: app_oder
            columns: [id]
      POST:
        public: true
        rate: any
        action:
          class: near
          config:
            from: { connection: Othr, table: shop, place: x }
            table: app_order
            columns: [id, titel]
            set: { pric: 1, title: a }
  /order:
    methods:
      GET:
        public: true
        action: { class: sql-table, config: { table: app_orders, columns: all } }
  /other:
    methods:
      GET:
        public: true
        action:
          class: sql-table
          config:
            table: app_order
            columns: [id, titel]
            sort: [-titel]
            connection: System
  /missing:
    methods:
      GET:
        public: true
        action: { class: sql-table, config: { connection: Sytem, table: app_order, columns: all } }
  /query/:order_id:
    methods:
      GET:
        public: true
        response: { type: array }
        action: { class: sql-query, config: { query: "select * from app_order where id = :oder_id" } }
`

test('unknown names in configs are reported once, with the nearest name, and classes that cronjobs cannot use', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waypost-names-'))
  try {
    await writeFiles(folder, {
      'waypost.yml': tables,
      'geo.ts': geo,
      'package.json': '{}',
      'migrations/System/1-order.yml':
        'create_table: { app_order: { columns: { id: id, title: text, price: integer } } }\n',
      'migrations/Other/1-shop.yml': 'create_table: { shop: { columns: { id: id, city: text } } }\n',
    })
    const { diagnostics } = await validateProject(folder)
    const errors = diagnostics.filter(({ severity }) => severity === 'error')
    assert.deepEqual(
      errors.map(({ message, hint, range }) => `${range.start.line}:${range.start.column} ${message}. ${hint}`),
      [
        '6:41 A cronjob cannot use the class "sql-query", which needs the method of a route. Use an action with code: action: src/FILE.ts',
        '8:49 A cronjob cannot use the class "proxy", which needs the method of a route. Use an action with code: action: src/FILE.ts',
        '9:51 A cronjob cannot use the class "strict", which needs the method of a route. Use an action with code: action: src/FILE.ts',
        '18:60 Unknown column "citi". Did you mean "city"?',
        '19:20 Unknown table "app_oder". Did you mean "app_order"?',
        '20:23 odd column. undefined',
        '27:33 Unknown connection "Othr". Did you mean "Other" (waypost.yml:2)?',
        '29:23 odd column. undefined',
        '29:27 Unknown column "titel". Did you mean "title"?',
        '30:20 Unknown column "pric". Did you mean "price"?',
        '35:54 Unknown table "app_orders". Did you mean "app_order"?',
        '44:27 Unknown column "titel". Did you mean "title"?',
        '45:20 Unknown column "titel". Did you mean "title"?',
        '51:59 Unknown connection "Sytem". Did you mean "System"?',
        '57:54 ":oder_id" is not a parameter of the method. Did you mean "order_id"?',
      ],
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
})
