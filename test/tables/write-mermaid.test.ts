import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeMermaid } from '../../src/tables/index.ts'

test('tables are written as a diagram of Mermaid', () => {
  const text = writeMermaid({
    tables: {
      app_customer: { columns: { id: { type: 'uuid' }, email: { type: 'text' } }, key: ['id'], unique: [['email']] },
      app_order: {
        columns: {
          id: { type: 'id' },
          customer_id: { type: 'uuid' },
          gift_of: { type: 'uuid', null: true },
          total: { type: 'number', as: 'numeric(12,2)' },
        },
        key: ['id'],
        references: [
          { columns: ['customer_id'], table: 'app_customer', to: ['id'] },
          { columns: ['gift_of'], table: 'app_customer', to: ['id'] },
        ],
      },
      'odd "name"': {
        columns: { '1 st': { type: 'other', as: 'tstz range' } },
        key: ['1 st'],
        references: [{ columns: ['1 st'], table: 'app_order', to: ['id'] }],
      },
    },
  })
  assert.equal(
    text,
    `erDiagram
  app_customer {
    uuid id PK
    text email UK
  }
  app_order {
    id id PK
    uuid customer_id FK
    uuid gift_of FK
    numeric(12_2) total
  }
  "odd 'name'" {
    tstz_range _1_st PK, FK
  }
  app_order }o--|| app_customer : "customer_id"
  app_order }o--o| app_customer : "gift_of"
  "odd 'name'" |o--|| app_order : "1 st"
`,
  )
})
