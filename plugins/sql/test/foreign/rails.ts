import { at, type ForeignProgram } from './foreign-table.ts'

export const rails: ForeignProgram = {
  sqlite: [
    {
      name: 'posts',
      schema: [
        `CREATE TABLE "posts" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "title" varchar, "body" text, "published" boolean DEFAULT 0 NOT NULL,
          "price" decimal(8,2), "released_on" date, "settings" json, "created_at" datetime(6) NOT NULL)`,
        `INSERT INTO "posts" (title, published, price, released_on, settings, created_at) VALUES
          ('r', 1, 9.99, '2026-01-01', '{"a":1}', '2026-01-01 10:00:00.123456'), ('s', 0, 10, null, null, '2026-01-01 23:00:00.000000'),
          ('t', 1, null, '2025-12-31', null, '2026-01-01 10:00:00.123000'), (null, 0, 9.99, '2026-01-01', '[]', '2026-01-01 10:00:00.123456')`,
      ],
      post: { title: 'x', price: 0.5, released_on: '2026-01-02', created_at: at },
    },
  ],
  postgresql: [
    {
      name: 'posts',
      schema: [
        `CREATE TABLE "posts" ("id" bigserial primary key, "title" character varying, "body" text, "published" boolean DEFAULT FALSE NOT NULL,
          "price" decimal(8,2), "released_on" date, "settings" jsonb DEFAULT '{}' NOT NULL, "created_at" timestamp(6) NOT NULL)`,
        `INSERT INTO "posts" (title, published, price, released_on, created_at) VALUES ('r', true, 9.99, '2026-01-01', '2026-01-01 10:00:00.123456'),
          ('s', false, 10, null, '2026-01-01 23:00:00'), ('t', true, null, '2025-12-31', '2026-01-01 10:00:00.123'),
          (null, false, 9.99, '2026-01-01', '2026-01-01 10:00:00.123456')`,
      ],
      post: { title: 'x', price: 0.5, released_on: '2026-01-02', created_at: at },
    },
  ],
}
