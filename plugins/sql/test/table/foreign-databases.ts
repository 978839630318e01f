/** A table that another program made, as it makes it. */
export interface ForeignTable {
  /** The program, and the table's name. */
  readonly name: string
  readonly kind: 'sqlite' | 'postgresql'
  readonly schema: readonly string[]
  /** What is posted; what it does not name gets its default. */
  readonly post: Readonly<Record<string, unknown>>
  /** Columns that the API must not filter, sort or write, because rows disagree. */
  readonly isMixed?: boolean
}

const prisma = `create table "PrismaUser" ("id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "email" TEXT NOT NULL,
  "createdAt" DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, "seenAt" DATETIME)`
const at = '2026-03-01T10:00:00.250Z'

/** Each has times before and after the others in the same second and day, equal ones, and none. */
export const foreignTables: readonly ForeignTable[] = [
  {
    name: 'PrismaUser',
    kind: 'sqlite',
    schema: [
      prisma,
      `insert into "PrismaUser" (email, createdAt, seenAt) values ('a', 1767261600123, null), ('b', 1767348000123, 1767348000123),
        ('c', 1767261600123, 1767261600000), ('d', -1000, 1767261600001)`,
    ],
    post: { email: 'x' },
  },
  {
    // Version 7 with a driver adapter.
    name: 'PrismaIso',
    kind: 'sqlite',
    schema: [
      prisma.replace('PrismaUser', 'PrismaIso'),
      `insert into "PrismaIso" (email, createdAt, seenAt) values ('a', '2026-01-01T10:00:00.123+00:00', null),
        ('b', '2026-01-01T10:00:00.124+00:00', '2026-01-01T10:00:00.000+00:00'), ('c', '2025-12-31T23:59:59.999+00:00', '2026-01-01T10:00:00.123+00:00')`,
    ],
    post: { email: 'x', seenAt: at },
  },
  {
    name: 'rails',
    kind: 'sqlite',
    schema: [
      'create table rails (id integer primary key autoincrement not null, title varchar, created_at datetime(6) not null)',
      `insert into rails (title, created_at) values ('r', '2026-01-01 10:00:00.123456'), ('s', '2026-01-01 23:00:00.000000'),
        ('t', '2026-01-01 10:00:00.123000'), (null, '2026-01-01 10:00:00.123456')`,
    ],
    post: { title: 'x', created_at: at },
  },
  {
    name: 'django',
    kind: 'sqlite',
    schema: [
      `create table django (id integer not null primary key autoincrement, name varchar(80) not null, active bool not null,
        joined datetime not null, born date null)`,
      `insert into django (name, active, joined, born) values ('a', 1, '2026-01-01 10:00:00', null), ('b', 0, '2026-01-01 10:00:00.500000', '2001-02-03'),
        ('c', 1, '2026-01-01 10:00:00.000001', '2001-02-04'), ('d', 1, '2026-01-01 10:00:01', '2001-02-03')`,
    ],
    post: { name: 'x', active: true, joined: at, born: '2020-01-01' },
  },
  {
    name: 'typeorm',
    kind: 'sqlite',
    schema: [
      `create table typeorm (id integer primary key autoincrement not null, createdAt datetime not null default (datetime('now')), due datetime)`,
      `insert into typeorm (createdAt, due) values ('2026-01-01 10:00:00', '2026-01-01 10:00:00.123'), ('2026-01-01 10:00:01', null),
        ('2026-01-01 10:00:00', '2026-01-01 10:00:00.124')`,
    ],
    post: { due: at },
  },
  {
    name: 'unix',
    kind: 'sqlite',
    schema: [
      'create table unix (id integer primary key, at timestamp not null)',
      'insert into unix (at) values (1767261600), (1767261601), (1767261600), (-1)',
    ],
    post: { at },
  },
  {
    name: 'julian',
    kind: 'sqlite',
    schema: [
      'create table julian (id integer primary key, at timestamp not null)',
      `insert into julian (at) values (julianday('2026-01-01 10:00:00.123')), (julianday('2026-01-01 10:00:00.124')), (2461041.9),
        (julianday('1969-01-01 00:00:00.001'))`,
    ],
    post: { at },
  },
  {
    name: 'dotnet',
    kind: 'sqlite',
    schema: [
      'create table dotnet (id integer primary key autoincrement, at datetime not null)',
      `insert into dotnet (at) values ('2026-01-01 10:00:00.1234567'), ('2026-01-01 10:00:00'), ('2026-01-01 10:00:00.1')`,
    ],
    post: { at },
  },
  {
    name: 'mixed',
    kind: 'sqlite',
    schema: [
      'create table mixed (id integer primary key, name text, at datetime)',
      `insert into mixed (at) values ('2026-01-01 10:00:00'), (1767261600123)`,
    ],
    post: { name: 'x' },
    isMixed: true,
  },
  {
    name: 'empty',
    kind: 'sqlite',
    schema: ['create table empty (id integer primary key, at datetime not null default current_timestamp, name text)'],
    post: { name: 'x' },
  },
  {
    name: 'drizzle',
    kind: 'sqlite',
    schema: [
      'CREATE TABLE `drizzle` (`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL, `name` text NOT NULL, `at` integer NOT NULL)',
      "INSERT INTO drizzle (name, at) VALUES ('a', 1767261600123), ('b', 1), ('c', 9223372036854775807)",
    ],
    post: { name: 'x', at: 1767261600124 },
  },
  {
    // Domains of domains with their own defaults and NOT NULL.
    name: 'person',
    kind: 'postgresql',
    schema: [
      `create domain email_t as text not null check (value like '%@%')`,
      'create domain strict_email as email_t check (length(value) < 50)',
      'create domain nn_default as integer not null default 7',
      `create table person (id bigint generated by default as identity primary key, a email_t, b strict_email default 'd@d', c nn_default, d text)`,
      `insert into person (a, c) values ('a@b', 1), ('b@b', 2)`,
    ],
    post: { a: 'x@y' },
  },
  {
    // PostgreSQL 18 says that the column is not null.
    name: 'unchecked',
    kind: 'postgresql',
    schema: [
      'create table unchecked (id bigint generated by default as identity primary key, a text)',
      `insert into unchecked (a) values (null), ('x'), ('a')`,
      `do $$ begin
        if current_setting('server_version_num')::int >= 180000 then execute 'alter table unchecked add constraint nn not null a not valid'; end if;
      end $$`,
    ],
    post: { a: 'x' },
  },
]

/** Rows with values that do not fit their column. They are shown as null, and hide no other row. */
export const oddTables: readonly Omit<ForeignTable, 'post'>[] = [
  {
    name: 'loose',
    kind: 'sqlite',
    schema: [
      'create table loose (id integer primary key, n int not null, d date, t text not null, active bool)',
      `insert into loose (n, d, t, active) values ('abc', 20454, 'x', 't'), (1.5, '2026-01-01', x'ff00', 1), ('', 2461000.5, '', 0), (3, null, 'ok', null)`,
    ],
  },
  {
    name: 'endless',
    kind: 'postgresql',
    schema: [
      'create table endless (id bigint generated by default as identity primary key, at timestamptz not null, d date not null)',
      `insert into endless (at, d) values ('2026-01-01 10:00Z', '2026-01-01'), ('infinity', 'infinity'), ('0044-03-15 BC', '0044-03-15 BC'), ('12026-01-01', '12026-01-01')`,
    ],
  },
]
