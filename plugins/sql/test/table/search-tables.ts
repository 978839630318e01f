import type { DatabaseKind, TableSnapshot } from 'waypost'
import { writeStep } from '../../../../test/support/write-steps.ts'
import type { ApiOptions } from '../../../../test/support/table-api.ts'
import type { TableConfig } from '../../src/table/config.ts'

const search = { columns: ['title', 'secret', 'text'] }

/** Tickets of users, whose search also has a column that only one of the actions shows. */
export const searchTable: TableSnapshot = {
  columns: {
    id: { type: 'id', default: true },
    user_id: { type: 'uuid' },
    title: { type: 'text' },
    secret: { type: 'text' },
    text: { type: 'text', null: true },
    parent_id: { type: 'bigint', null: true },
  },
  key: ['id'],
  references: [{ columns: ['parent_id'], table: 'app_ticket', to: ['id'] }],
  search,
}

export const searchConfig = {
  table: 'app_ticket',
  columns: ['id', 'title', 'text'],
  owner: 'user_id',
  search: ['title', 'text'],
  sortable: ['id'],
  filter: ['title'],
  unindexed: ['id', 'title'],
  embed: { parent: { by: 'parent_id', many: false, from: 'Tickets', columns: ['id'] } },
} satisfies TableConfig

export function openSearchOptions(kind: DatabaseKind, url: string | undefined): ApiOptions {
  const table = 'app_ticket'
  return {
    url,
    tables: { [table]: searchTable },
    config: searchConfig,
    actions: {
      Tickets: searchConfig,
      Titles: { table, columns: ['id', 'title'], owner: 'user_id', search: ['title'] },
      All: { table, columns: 'all', owner: 'user_id', search: ['title', 'secret', 'text'] },
    },
    routes: ['GET /ticket Tickets', 'GET /title Titles', 'GET /all All'],
    schema: [
      ...writeStep(
        {
          step: 'create_table',
          table,
          columns: {
            id: { type: 'id' },
            user_id: { type: 'uuid' },
            title: { type: 'text' },
            secret: { type: 'text' },
            text: { type: 'text', null: true },
            parent_id: { type: 'bigint', null: true, references: 'app_ticket' },
          },
        },
        kind,
      ),
      ...writeStep({ step: 'add_search', table, ...search }, kind),
    ],
  }
}
