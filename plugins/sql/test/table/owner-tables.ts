import type { TableSnapshot, DatabaseKind } from 'waypost'
import { writeStep } from '../../../../test/support/write-steps.ts'
import type { TableConfig } from '../../src/table/config.ts'
import type { ApiOptions } from '../../../../test/support/table-api.ts'

const chained = (column: string, table: string): TableSnapshot => ({
  columns: { id: { type: 'id', default: true }, [column]: { type: 'bigint' }, text: { type: 'text' } },
  key: ['id'],
  index: [[column, 'id']],
  references: [{ columns: [column], table, to: ['id'], on_delete: 'cascade' }],
})

/**
 * Tickets of users, notes that belong to the owner of their ticket, replies and marks that belong to the owner of the note or
 * reply before them, and tasks with an owner and references of their own.
 */
export const ticketTables: Readonly<Record<string, TableSnapshot>> = {
  app_ticket: {
    columns: {
      id: { type: 'id', default: true },
      user_id: { type: 'uuid' },
      title: { type: 'text', length: 8 },
      status: { type: 'integer', default: true },
    },
    key: ['id'],
    index: [['user_id', 'status', 'id']],
    search: { columns: ['title'] },
  },
  app_note: {
    columns: {
      id: { type: 'id', default: true },
      ticket_id: { type: 'bigint' },
      text: { type: 'text' },
      version: { type: 'integer' },
    },
    key: ['id'],
    index: [['ticket_id', 'id']],
    search: { columns: ['text'] },
    references: [{ columns: ['ticket_id'], table: 'app_ticket', to: ['id'], on_delete: 'cascade' }],
  },
  app_reply: chained('note_id', 'app_note'),
  app_mark: chained('reply_id', 'app_reply'),
  app_task: {
    columns: {
      id: { type: 'id', default: true },
      user_id: { type: 'uuid' },
      ticket_id: { type: 'bigint', null: true },
      note_id: { type: 'bigint', null: true },
      shelf_id: { type: 'bigint', null: true },
      name: { type: 'text' },
      version: { type: 'integer' },
    },
    key: ['id'],
    unique: [['user_id', 'name']],
    index: [
      ['user_id', 'id'],
      ['ticket_id', 'user_id'],
      ['note_id', 'user_id'],
    ],
    references: [
      { columns: ['ticket_id'], table: 'app_ticket', to: ['id'] },
      { columns: ['note_id'], table: 'app_note', to: ['id'] },
      { columns: ['shelf_id'], table: 'app_shelf', to: ['id'] },
    ],
  },
  app_shelf: { columns: { id: { type: 'bigint' } }, key: ['id'] },
}

export const ticketApi = {
  Tickets: {
    table: 'app_ticket',
    csv: true,
    columns: ['id', 'title', 'status'],
    write: ['title'],
    where: { status: 1 },
    owner: { column: 'user_id', unless: 'ticket.all' },
    bulk: 4,
    filter: ['id', 'title'],
    sortable: ['title'],
    search: ['title'],
    embed: {
      notes: { from: 'Notes', by: 'ticket_id', limit: 2, write: true },
      tasks: { from: 'Tasks', by: 'ticket_id' },
    },
  },
  Notes: {
    table: 'app_note',
    csv: true,
    columns: ['id', 'ticket_id', 'text'],
    owner: { through: 'ticket_id' },
    version: 'version',
    filter: ['id', 'text', 'ticket.title'],
    search: ['text'],
    embed: { ticket: { from: 'Tickets', by: 'ticket_id' }, tasks: { from: 'Tasks', by: 'note_id', limit: 1 } },
    bulk: 4,
  },
  NotesOf: {
    table: 'app_note',
    csv: true,
    columns: ['id', 'text'],
    where: { ticket_id: '$params.ticket_id' },
    owner: { through: 'ticket_id' },
    version: 'version',
    embed: { ticket: { from: 'Tickets', by: 'ticket_id' } },
    embed_always: ['ticket'],
    bulk: 4,
  },
  Replies: {
    table: 'app_reply',
    csv: true,
    columns: ['id', 'note_id', 'text'],
    owner: { through: 'note_id' },
    filter: ['id', 'text', 'note.text'],
    embed: { note: { from: 'Notes', by: 'note_id' }, marks: { from: 'Marks', by: 'reply_id', limit: 1 } },
  },
  Marks: {
    table: 'app_mark',
    csv: true,
    columns: ['id', 'reply_id', 'text'],
    owner: { through: 'reply_id' },
    filter: ['id', 'text', 'reply.text'],
    embed: { reply: { from: 'Replies', by: 'reply_id' } },
  },
  Tasks: {
    table: 'app_task',
    csv: true,
    columns: ['id', 'ticket_id', 'note_id', 'shelf_id', 'name'],
    owner: 'user_id',
    version: 'version',
    filter: ['id', 'name', 'ticket.title', 'note.text'],
    sortable: ['name', 'ticket_id'],
    embed: { ticket: { from: 'Tickets', by: 'ticket_id' }, note: { from: 'Notes', by: 'note_id' } },
    bulk: 4,
  },
  NamedTasks: {
    table: 'app_task',
    columns: ['id', 'ticket_id', 'note_id', 'shelf_id', 'name'],
    owner: 'user_id',
    version: 'version',
    upsert: ['name'],
    bulk: 4,
  },
} satisfies Readonly<Record<string, TableConfig>>

const crud = (path: string, action: string) => [
  `GET ${path} ${action}`,
  `POST ${path} ${action}`,
  ...['GET', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${path}/:id ${action}`),
]

export const ticketRoutes = [
  ...crud('/ticket', 'Tickets'),
  ...crud('/note', 'Notes'),
  ...crud('/ticket/:ticket_id/note', 'NotesOf'),
  ...crud('/reply', 'Replies'),
  ...crud('/mark', 'Marks'),
  ...crud('/task', 'Tasks'),
  'POST /named NamedTasks',
]

export function openTicketOptions(kind: DatabaseKind, url: string | undefined): ApiOptions {
  const id =
    kind === 'sqlite' ? 'integer primary key autoincrement' : 'bigint generated by default as identity primary key'
  const uuid = kind === 'sqlite' ? 'uuid_text' : 'uuid'
  return {
    url,
    tables: ticketTables,
    config: ticketApi.Tickets,
    actions: ticketApi,
    routes: ticketRoutes,
    schema: [
      `create table app_shelf (id bigint primary key)`,
      `create table app_ticket (id ${id}, user_id ${uuid} not null, title varchar(8) not null check (title <> 'bad'),
        status integer not null default 1)`,
      `create index app_ticket_list on app_ticket (user_id, status, id)`,
      `create table app_note (id ${id}, ticket_id bigint not null references app_ticket (id) on delete cascade,
        text varchar(200) not null, version integer not null)`,
      `create index app_note_list on app_note (ticket_id, id)`,
      ...[
        ['reply', 'note'],
        ['mark', 'reply'],
      ].flatMap(([name, parent]) => [
        `create table app_${name} (id ${id}, ${parent}_id bigint not null references app_${parent} (id) on delete cascade,
        text varchar(200) not null)`,
        `create index app_${name}_list on app_${name} (${parent}_id, id)`,
      ]),
      `create table app_task (id ${id}, user_id ${uuid} not null, ticket_id bigint references app_ticket (id),
        note_id bigint references app_note (id), shelf_id bigint references app_shelf (id),
        name varchar(8) not null, version integer not null, unique (user_id, name))`,
      `create index app_task_list on app_task (user_id, id)`,
      `create index app_task_ticket on app_task (ticket_id, user_id)`,
      `create index app_task_note on app_task (note_id, user_id)`,
      `insert into app_shelf values (1)`,
      ...writeStep({ step: 'add_search', table: 'app_ticket', columns: ['title'] }, kind),
      ...writeStep({ step: 'add_search', table: 'app_note', columns: ['text'] }, kind),
    ],
  }
}
