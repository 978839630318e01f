import type { ActionDescription, ActionUse, TableSnapshot } from 'waypost'
import type { TableConfig } from '../../src/table/config.ts'
import { describeTable } from '../../src/table/describe.ts'
import type { TablePlan } from '../../src/table/plan.ts'

export const orderTable: TableSnapshot = {
  columns: {
    id: { type: 'id', default: true },
    user_id: { type: 'uuid' },
    status: { type: 'integer', default: true },
    total: { type: 'integer' },
    title: { type: 'text', length: 64 },
    note: { type: 'text', null: true },
    paid_at: { type: 'timestamp', null: true },
    due: { type: 'date', null: true },
    weight: { type: 'number', null: true },
    large: { type: 'bigint', default: true },
    data: { type: 'json', null: true },
    price: { type: 'other', as: 'numeric(12,2)', null: true },
    tags: { type: 'other', as: 'text[]', null: true },
    label: { type: 'text', null: true, generated: true },
    version: { type: 'integer', default: true },
    insert_date: { type: 'timestamp', default: true },
  },
  key: ['id'],
  unique: [['title']],
  index: [['user_id', 'status', 'insert_date', 'id']],
}
const line: TableSnapshot = {
  columns: { order_id: { type: 'bigint' }, number: { type: 'integer' }, text: { type: 'text', null: true } },
  key: ['order_id', 'number'],
}
const report: TableSnapshot = {
  view: true,
  columns: { day: { type: 'date', null: true }, count: { type: 'bigint', null: true } },
}
export const tables = { System: { tables: { app_order: orderTable, app_line: line, app_report: report } } }

export const orders = {
  table: 'app_order',
  columns: ['id', 'status', 'total', 'version', 'insert_date'],
  write: ['total'],
  set: { status: 1, insert_date: '$now', title: 'new' },
  where: { status: 1 },
  delete: { status: 0 },
  owner: 'user_id',
  version: 'version',
  sort: ['-insert_date', '-id'],
  sortable: ['insert_date', 'total'],
  filter: ['status'],
  unindexed: ['total'],
} satisfies TableConfig

export function run(
  config: object,
  [method = 'GET', path = '/order', more = {}]: readonly [string?, string?, Partial<ActionUse>?] = [],
  known: Parameters<typeof describeTable>[2] = tables,
): ActionDescription {
  const use = {
    method,
    path,
    public: false,
    declared: { responses: {} },
    schemas: {},
    events: {},
    connections: {},
    databases: {},
    actions: {},
    methods: {},
    ...more,
  }
  return describeTable(config as TableConfig, use, known)
}

export const planOf = (description: ActionDescription) => description.plan as TablePlan
/** `POINTER message`, with the severity of warnings. */
export const problemsOf = ({ problems = [] }: ActionDescription) =>
  problems.map(({ at, message, severity }) => `${severity === 'warning' ? 'warning ' : ''}${at} ${message}`)

export function propertiesOf(schema: unknown): Record<string, unknown> {
  return (schema as { properties: Record<string, unknown> }).properties
}
