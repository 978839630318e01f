import { at, type ForeignProgram } from './foreign-table.ts'

const user = `create table "User" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "email" TEXT NOT NULL,
  "role" TEXT NOT NULL DEFAULT 'USER', "active" BOOLEAN NOT NULL DEFAULT true, "views" BIGINT, "balance" DECIMAL,
  "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "seenAt" DATETIME, "meta" JSONB, "photo" BLOB)`

export const prisma: ForeignProgram = {
  sqlite: [
    {
      name: 'User',
      schema: [
        user,
        `insert into "User" (email, active, views, balance, createdAt, seenAt, meta) values
          ('a', 1, 9007199254740993, 0.1, 1767261600123, null, '{"a":1}'), ('b', 0, -1, 12, 1767348000123, 1767348000123, null),
          ('c', 1, null, null, 1767261600123, 1767261600000, '[]'), ('d', 0, 0, 0.30000000000000004, -1000, 1767261600001, 'null')`,
      ],
      post: { email: 'x' },
    },
    {
      // Version 7 with a driver adapter.
      name: 'Iso',
      schema: [
        user.replace('"User"', '"Iso"'),
        `insert into "Iso" (email, createdAt, seenAt) values ('a', '2026-01-01T10:00:00.123+00:00', null),
          ('b', '2026-01-01T10:00:00.124+00:00', '2026-01-01T10:00:00.000+00:00'), ('c', '2025-12-31T23:59:59.999+00:00', '2026-01-01T10:00:00.123+00:00')`,
      ],
      post: { email: 'x', seenAt: at },
    },
    {
      // With a cuid, which the program makes.
      name: 'Post',
      schema: [
        `create table "Post" ("id" TEXT NOT NULL PRIMARY KEY, "title" TEXT NOT NULL, "at" DATETIME NOT NULL)`,
        `insert into "Post" values ('cm4', 'é', 1767261600123), ('cm5', 'e', 1767261600122), ('CM4', 'É', 1767261600123)`,
      ],
      post: { id: 'cm6/ ?%', title: 'x', at },
    },
  ],
  postgresql: [
    {
      name: 'User',
      schema: [
        `CREATE TYPE "Role" AS ENUM ('USER', 'ADMIN')`,
        `CREATE TABLE "User" ("id" SERIAL NOT NULL, "email" TEXT NOT NULL, "role" "Role" NOT NULL DEFAULT 'USER', "active" BOOLEAN NOT NULL DEFAULT true,
          "views" BIGINT, "balance" DECIMAL(65,30) NOT NULL DEFAULT 0, "score" DOUBLE PRECISION, "createdAt" TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
          "seenAt" TIMESTAMP(3), "meta" JSONB, "tags" TEXT[], "photo" BYTEA, CONSTRAINT "User_pkey" PRIMARY KEY ("id"))`,
        `INSERT INTO "User" (email, active, views, balance, score, "createdAt", "seenAt", meta, tags) VALUES
          ('a', true, 9007199254740993, 0.1, 0.30000000000000004, '2026-01-01 10:00:00.123', null, '{"a": 1}', '{x}'),
          ('b', false, -1, 12, 0.3, '2026-01-01 10:00:00.124', '2026-01-01 10:00:00.123', null, null),
          ('c', true, null, 0, null, '2026-01-01 10:00:00.123', '1969-12-31 23:59:59.999', '[]', '{}')`,
      ],
      post: { email: 'x', seenAt: at },
    },
    {
      // Between two tables.
      name: '_PostToTag',
      schema: [
        `CREATE TABLE "_PostToTag" ("A" TEXT NOT NULL, "B" INTEGER NOT NULL, CONSTRAINT "_PostToTag_AB_pkey" PRIMARY KEY ("A","B"))`,
        `INSERT INTO "_PostToTag" VALUES ('cm4', 1), ('cm4', 2), ('CM4', 1)`,
      ],
      post: { A: 'cm5/ ?%', B: -7 },
    },
  ],
}
