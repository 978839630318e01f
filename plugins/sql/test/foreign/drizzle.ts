import { at, type ForeignProgram } from './foreign-table.ts'

export const drizzle: ForeignProgram = {
  sqlite: [
    {
      // Dates are integers, or texts of a text column.
      name: 'users',
      schema: [
        'CREATE TABLE `users` (`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL, `name` text NOT NULL, `at` integer NOT NULL, `admin` integer DEFAULT false NOT NULL,\n' +
          '  `score` real, `total` numeric, `meta` text, `created` text DEFAULT CURRENT_TIMESTAMP NOT NULL)',
        `INSERT INTO users (name, at, admin, score, total, meta, created) VALUES ('a', 1767261600123, 0, 0.1, 5, '{"a":1}', '2026-01-01 10:00:00'),
          ('b', 1, 1, null, 0.5, null, '2026-01-01 10:00:00'), ('c', 9223372036854775807, 0, 1e300, null, null, '2026-01-01 10:00:01')`,
      ],
      post: { name: 'x', at: 1767261600124 },
    },
  ],
  postgresql: [
    {
      name: 'users',
      schema: [
        `CREATE TABLE "users" ("id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "users_id_seq" START WITH 1), "name" varchar(256) NOT NULL,
          "at" timestamp DEFAULT now() NOT NULL, "seen" timestamp (3) with time zone, "day" date, "big" bigint, "small" smallint DEFAULT 3 NOT NULL, "score" real,
          "total" numeric(12, 2), "meta" jsonb, "token" uuid DEFAULT gen_random_uuid() NOT NULL)`,
        `INSERT INTO "users" (name, at, seen, day, big, score, total) VALUES ('a', '2026-01-01 10:00:00.123456', '2026-01-01 10:00:00.123Z', '2026-01-01', 9007199254740993, 0.1, 0.5),
          ('b', '2026-01-01 10:00:00.123457', null, null, -9223372036854775808, 1.5, null), ('c', '2026-01-01 10:00:00.123456', '2026-01-01 10:00:00.124Z', '2025-12-31', null, null, 9999999999.99)`,
      ],
      post: { name: 'x', seen: at },
    },
  ],
}
