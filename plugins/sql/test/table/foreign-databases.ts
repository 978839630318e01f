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
    // The same API writes dates as integers, and the default of `timestamps()` as text, so here nothing has a default.
    name: 'knex',
    kind: 'sqlite',
    schema: [
      `create table \`knex\` (\`id\` integer not null primary key autoincrement, \`email\` varchar(255) not null,
        \`active\` boolean default '1', \`price\` float, \`meta\` json, \`created_at\` datetime)`,
      `insert into knex (email, active, price, meta, created_at) values ('a', 1, 1.5, '{"a":1}', 1767261600123),
        ('b', 0, null, null, 1767261600124), ('c', null, 0.1, '[]', null), ('a', 1, 1.5, null, 1767261600123)`,
    ],
    post: { email: 'x', active: false, price: 2.25, created_at: at },
  },
  {
    name: 'Invoice',
    kind: 'sqlite',
    schema: [
      // Of Chinook.
      `CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL, [InvoiceDate] DATETIME NOT NULL,
        [BillingCity] NVARCHAR(40), [Total] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]))`,
      `INSERT INTO Invoice VALUES (1, 2, '2009-01-01 00:00:00', 'Stuttgart', 1.98), (2, 4, '2009-01-02 00:00:00', 'Oslo', 3.96),
        (3, 2, '2009-01-01 00:00:00', NULL, 13.86), (4, 2, '2009-01-01 00:00:01', 'Århus', 3)`,
    ],
    post: { CustomerId: 2, InvoiceDate: at, BillingCity: 'Köln', Total: 5.94 },
  },
  {
    name: 'Orders',
    kind: 'sqlite',
    schema: [
      // Of Northwind.
      `CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT, [OrderDate] DATETIME,
        [ShippedDate] DATETIME, [Freight] NUMERIC DEFAULT 0, [Picture] BLOB)`,
      `INSERT INTO Orders VALUES (10248, 'VINET', '2016-07-04', '2016-07-16', 32.38, x'00ff'), (10249, 'TOMSP', '2016-07-05', NULL, 11.61, NULL),
        (10250, 'HANAR', '2016-07-04', '2016-07-12', 65.83, NULL)`,
    ],
    post: { CustomerID: 'VINET', Freight: 1.5 },
    // Dates without a time in a column of times.
    isMixed: true,
  },
  {
    name: 'Customers',
    kind: 'sqlite',
    schema: [
      // Of Northwind: the program gives the key.
      `CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, [City] TEXT, PRIMARY KEY (\`CustomerID\`))`,
      `INSERT INTO Customers VALUES ('ALFKI', 'Alfreds Futterkiste', 'Berlin'), ('ANATR', 'Ana Trujillo', NULL), ('BLONP', 'Blondesddsl père et fils', 'Strasbourg')`,
    ],
    post: { CustomerID: 'A/B C', CompanyName: 'x', City: 'y' },
  },
  {
    name: 'knex_user',
    kind: 'postgresql',
    schema: [
      `create table "knex_user" ("id" serial primary key, "email" varchar(255) not null, "active" boolean default '1',
        "price" decimal(8, 2), "ratio" real, "meta" jsonb, "token" uuid, "created_at" timestamptz not null default CURRENT_TIMESTAMP)`,
      `insert into knex_user (email, active, price, ratio, meta, token, created_at) values
        ('a', true, 1.50, 0.1, '{"a": 1}', '00000000-0000-4000-8000-000000000001', '2026-01-01 10:00:00.123456Z'),
        ('b', null, 0.1, 1.5, null, null, '2026-01-01 10:00:00.123Z'), ('c', false, 999999.99, null, '[]', null, '2026-01-01 10:00:00.123457Z')`,
    ],
    post: { email: 'x', price: 2.25, ratio: 0.25, created_at: at },
  },
  {
    name: 'film',
    kind: 'postgresql',
    schema: [
      // Of Pagila.
      `create type mpaa_rating as enum ('G', 'PG', 'NC-17')`,
      'create domain year as integer check (value >= 1901 and value <= 2155)',
      'create domain bigint_positive as bigint check (value >= 0)',
      'create sequence film_film_id_seq',
      `create table film (film_id integer default nextval('film_film_id_seq'::regclass) not null primary key, title text not null,
        release_year year, language_id smallint not null default 1, rental_duration smallint default 3 not null,
        rental_rate numeric(4,2) default 4.99 not null, views bigint_positive, rating mpaa_rating default 'G'::mpaa_rating,
        last_update timestamp with time zone default now() not null, create_date date default ('now'::text)::date not null,
        special_features text[], fulltext tsvector)`,
      `insert into film (title, release_year, rental_rate, views, rating, last_update, create_date, special_features, fulltext) values
        ('ACADEMY DINOSAUR', 2006, 0.99, 9007199254740993, 'PG', '2022-09-10 16:46:03.905795Z', '2006-02-14', '{Trailers}', 'dinosaur'),
        ('ACE GOLDFINGER', null, 4.99, null, 'NC-17', '2022-09-10 16:46:03.905796Z', '2006-02-15', null, 'gold'),
        ('ADAPTATION HOLES', 2006, 2.99, 0, null, '2022-09-10 16:46:03.905Z', '2006-02-14', '{}', 'hole')`,
    ],
    post: { title: 'x', release_year: 2020, rental_rate: 1.5, last_update: at },
  },
  {
    name: 'invoice',
    kind: 'postgresql',
    schema: [
      // Of Chinook: the program gives the key.
      `CREATE TABLE invoice (invoice_id INT NOT NULL, customer_id INT NOT NULL, invoice_date TIMESTAMP NOT NULL, billing_city VARCHAR(40),
        total NUMERIC(10,2) NOT NULL, CONSTRAINT invoice_pkey PRIMARY KEY (invoice_id))`,
      `INSERT INTO invoice VALUES (1, 2, '2021/1/1', 'Stuttgart', 1.98), (2, 4, '2021/1/2', NULL, 3.96), (3, 2, '2021/1/1', 'Oslo', 13.86)`,
    ],
    post: { invoice_id: 9, customer_id: 2, invoice_date: at, total: 5.94 },
  },
  {
    name: 'orders',
    kind: 'postgresql',
    schema: [
      // Of Northwind.
      `CREATE TABLE orders (order_id smallint NOT NULL PRIMARY KEY, customer_id character varying(5), code character(5), order_date date, freight real,
        picture bytea)`,
      `INSERT INTO orders VALUES (10248, 'VINET', 'ab', '1996-07-04', 32.380001, '\\x00ff'), (10249, 'TOMSP', 'abcde', '1996-07-05', 11.6099997, NULL),
        (10250, NULL, NULL, '1996-07-04', NULL, NULL)`,
    ],
    post: { order_id: 7, customer_id: 'VINET', order_date: '1996-07-05', freight: 0.5 },
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
