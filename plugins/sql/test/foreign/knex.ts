import { at, type ForeignProgram } from './foreign-table.ts'

export const knex: ForeignProgram = {
  sqlite: [
    {
      name: 'person',
      schema: [
        `create table \`person\` (\`id\` integer not null primary key autoincrement, \`email\` varchar(255) not null,
          \`active\` boolean default '1', \`price\` float, \`meta\` json, \`created_at\` datetime)`,
        `insert into person (email, active, price, meta, created_at) values ('a', 1, 1.5, '{"a":1}', 1767261600123),
          ('b', 0, null, null, 1767261600124), ('c', null, 0.1, '[]', null), ('a', 1, 1.5, null, 1767261600123)`,
      ],
      post: { email: 'x', active: false, price: 2.25, created_at: at },
    },
    {
      // Of timestamps(): the default is a text, and what the program writes an integer.
      name: 'stamped',
      schema: [
        `create table \`stamped\` (\`id\` integer not null primary key autoincrement, \`name\` varchar(255), \`created_at\` datetime not null default CURRENT_TIMESTAMP,
          \`updated_at\` datetime not null default CURRENT_TIMESTAMP)`,
        `insert into stamped (name, created_at, updated_at) values ('a', '2026-01-01 10:00:00', 1767261600123), ('b', 1767261600000, '2026-01-01 09:59:59'),
          (null, 1767261600001, '2026-01-01 10:00:00'), ('a', '2025-12-31 23:59:59', 1767261600122)`,
      ],
      post: { name: 'x' },
      written: { created_at: 'YYYY-MM-DD HH:MM:SS', updated_at: 'milliseconds' },
    },
  ],
  postgresql: [
    {
      name: 'person',
      schema: [
        `create table "person" ("id" serial primary key, "email" varchar(255) not null, "active" boolean default '1',
          "price" decimal(8, 2), "ratio" real, "meta" jsonb, "token" uuid, "created_at" timestamptz not null default CURRENT_TIMESTAMP)`,
        `insert into person (email, active, price, ratio, meta, token, created_at) values
          ('a', true, 1.50, 0.1, '{"a": 1}', '00000000-0000-4000-8000-000000000001', '2026-01-01 10:00:00.123456Z'),
          ('b', null, 0.1, 1.5, null, null, '2026-01-01 10:00:00.123Z'), ('c', false, 999999.99, null, '[]', null, '2026-01-01 10:00:00.123457Z')`,
      ],
      post: { email: 'x', price: 2.25, ratio: 0.25, created_at: at },
    },
  ],
}
