import { actionFile } from '../support/project-server.ts'

/** A project whose tables have exact decimals and enums, and whose actions do everything that `sql-table` can. */
export const shopFiles = {
  'package.json': '{ "type": "module" }',
  'migrations/System/20260101-shop.yml': `
create_table:
  app_customer: { columns: { id: uuid, name: text(100) }, key: [id] }
  app_product:
    columns:
      id: id
      sku: text(20)
      title: text
      price: { type: numeric, precision: 10, scale: 2, default: '0.50' }
      status: { type: enum, values: [open, closed], default: open }
      stock: { type: bigint, default: 0 }
      data: { type: json, null: true }
      note: { type: text, null: true }
    unique: [[sku]]
    index: [[price, id], [status, id]]
  app_order:
    columns:
      id: id
      user_id: uuid
      customer_id: { type: uuid, null: true, references: app_customer }
      title: text(200)
      total: { type: numeric, precision: 18, scale: 4, null: true }
      version: { type: integer, default: 1 }
    index: [[user_id, id]]
  app_line:
    columns:
      id: id
      order_id: { type: bigint, references: app_order, on_delete: cascade }
      product_id: { type: bigint, references: app_product }
      price: { type: numeric, precision: 10, scale: 2 }
    index: [[order_id, id]]
`,
  'src/token.ts': actionFile('return request.headers.authorization'),
  'migrations/System/20260102-search.yml': 'add_search: { app_product: [title, sku] }\n',
  'waypost.yml': `
schema:
  Price: { type: string, format: decimal }
action:
  Customers: { class: sql-table, config: { table: app_customer, columns: all, write: [id, name], as: Customer } }
  Products:
    class: sql-table
    config:
      table: app_product
      columns: [id, sku, title, price, status, stock, data, note]
      as: Product
      sort: [price]
      sortable: [price]
      filter: [price, status]
      search: [title, sku]
      csv: true
      bulk: 500
  SavedProducts:
    class: sql-table
    config: { table: app_product, columns: [id, sku, title, price, status, stock, data, note], bulk: 500, upsert: [sku] }
  Orders:
    class: sql-table
    config:
      table: app_order
      columns: [id, customer_id, title, total, version]
      write: [customer_id, title, total]
      owner: user_id
      version: version
      filter: [title, customer.name]
      unindexed: [title, customer.name]
      as: Order
      embed:
        customer: { from: Customers, by: customer_id }
        lines: { from: Lines, by: order_id, write: true }
  Lines:
    class: sql-table
    config:
      table: app_line
      columns: [id, product_id, price]
      where: { order_id: $params.order_id }
      owner: { through: order_id }
      as: Line
event:
  product_saved:
    scopes: [shop]
    schema: { type: object, required: [sku, price], properties: { sku: { type: string }, price: { $ref: schema:///Price } } }
  product_created: { scopes: [shop] }
routes:
  /token: { scopes: [shop], methods: { GET: { action: src/token.ts } } }
  /customer: { scopes: [shop], methods: { GET: { action: Customers }, POST: { action: Customers } } }
  /product:
    scopes: [shop]
    methods: { GET: { action: Products }, POST: { action: Products, dispatch: product_created } }
  /product/:id:
    scopes: [shop]
    methods: { GET: { action: Products }, PATCH: { action: Products }, PUT: { action: Products }, DELETE: { action: Products } }
  /saved: { scopes: [shop], methods: { POST: { action: SavedProducts, dispatch: { event: product_saved, data: [sku, price] } } } }
  /order: { scopes: [shop], methods: { GET: { action: Orders }, POST: { action: Orders } } }
  /order/:id: { scopes: [shop], methods: { GET: { action: Orders } } }
  /order/:order_id/line: { scopes: [shop], methods: { GET: { action: Lines } } }
`,
}
