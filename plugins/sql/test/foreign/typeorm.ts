import { at, type ForeignProgram } from './foreign-table.ts'

export const typeorm: ForeignProgram = {
  sqlite: [
    {
      name: 'task',
      schema: [
        `CREATE TABLE "task" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "createdAt" datetime NOT NULL DEFAULT (datetime('now')), "due" datetime,
          "done" boolean NOT NULL DEFAULT (0), "tags" text, "day" date, "price" float)`,
        `INSERT INTO "task" (createdAt, due, done, tags, day, price) VALUES ('2026-01-01 10:00:00', '2026-01-01 10:00:00.123', 1, 'a,b', '2026-01-01', 0.1),
          ('2026-01-01 10:00:01', null, 0, null, null, 1e300), ('2026-01-01 10:00:00', '2026-01-01 10:00:00.124', 1, '', '2026-01-02', null)`,
      ],
      post: { due: at },
    },
    {
      name: 'account',
      schema: [
        `CREATE TABLE "account" ("id" varchar PRIMARY KEY NOT NULL, "name" varchar(20) NOT NULL, "deletedAt" datetime)`,
        `INSERT INTO "account" VALUES ('0190a0a0-0000-7000-8000-00000000000a', 'a', null), ('0190a0a0-0000-7000-8000-00000000000b', 'b', '2026-01-01 10:00:00.123')`,
      ],
      post: { id: '0190a0a0-0000-7000-8000-00000000000c', name: 'x' },
    },
  ],
  postgresql: [
    {
      name: 'task',
      schema: [
        `CREATE TABLE "task" ("id" uuid NOT NULL DEFAULT gen_random_uuid(), "createdAt" TIMESTAMP NOT NULL DEFAULT now(), "due" TIMESTAMP WITH TIME ZONE,
          "done" boolean NOT NULL DEFAULT false, "tags" text array NOT NULL DEFAULT '{}', "day" date, "price" double precision, "meta" json,
          CONSTRAINT "PK_fb2" PRIMARY KEY ("id"))`,
        `INSERT INTO "task" ("createdAt", due, done, day, price, meta) VALUES ('2026-01-01 10:00:00.000001', '2026-01-01 10:00:00.123Z', true, '2026-01-01', 0.1, '{"a": 1}'),
          ('2026-01-01 10:00:01', null, false, null, 1e300, null), ('2026-01-01 10:00:00', '2026-01-01 10:00:00.124Z', true, '2026-01-02', null, '[]')`,
      ],
      post: { due: at },
    },
  ],
}
