import { at, type ForeignProgram } from './foreign-table.ts'

export const pagila: ForeignProgram = {
  sqlite: [
    {
      // Of Sakila for SQLite.
      name: 'film',
      schema: [
        `CREATE TABLE film (film_id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, title VARCHAR(255) NOT NULL, description BLOB SUB_TYPE TEXT DEFAULT NULL,
          release_year VARCHAR(4) DEFAULT NULL, language_id SMALLINT NOT NULL, rental_duration SMALLINT DEFAULT 3 NOT NULL,
          rental_rate DECIMAL(4,2) DEFAULT 4.99 NOT NULL, rating VARCHAR(10) DEFAULT 'G', special_features VARCHAR(100) DEFAULT NULL, last_update TIMESTAMP NOT NULL,
          CONSTRAINT CHECK_special_rating CHECK (rating in ('G', 'PG', 'NC-17')))`,
        `INSERT INTO film (title, release_year, language_id, rental_rate, rating, special_features, last_update) VALUES
          ('ACADEMY DINOSAUR', '2006', 1, 0.99, 'PG', 'Trailers', '2020-12-23 07:12:31'), ('ACE GOLDFINGER', NULL, 1, 4.99, 'NC-17', NULL, '2020-12-23 07:12:32'),
          ('ADAPTATION HOLES', '2006', 2, 2.99, NULL, 'Trailers,Deleted Scenes', '2020-12-23 07:12:31')`,
      ],
      post: { title: 'x', language_id: 1, last_update: at },
    },
    {
      // Its triggers change the row after it was written, each one after the other.
      name: 'actor',
      schema: [
        `CREATE TABLE actor (actor_id numeric NOT NULL, first_name VARCHAR(45) NOT NULL, last_update TIMESTAMP NOT NULL, PRIMARY KEY (actor_id))`,
        `INSERT INTO actor VALUES (1, 'PENELOPE', '2020-12-23 07:12:29'), (2, 'NICK', '2020-12-23 07:12:29'), (3, 'ED', '2020-12-23 07:12:30')`,
        `CREATE TRIGGER actor_trigger_ai AFTER INSERT ON actor BEGIN UPDATE actor SET last_update = DATETIME('2026-11-20 12:00:00') WHERE rowid = new.rowid; END`,
        `CREATE TRIGGER actor_trigger_au AFTER UPDATE ON actor BEGIN UPDATE actor SET last_update = DATETIME('2026-11-20 12:00:01') WHERE rowid = new.rowid; END`,
      ],
      post: { actor_id: 4, first_name: 'JENNIFER', last_update: '2026-11-20T12:00:01.000Z' },
    },
  ],
  postgresql: [
    {
      name: 'film',
      schema: [
        `create type mpaa_rating as enum ('G', 'PG', 'NC-17')`,
        'create domain year as integer check (value >= 1901 and value <= 2155)',
        'create domain bigint_positive as bigint check (value >= 0)',
        'create sequence film_film_id_seq',
        `create table film (film_id integer default nextval('film_film_id_seq'::regclass) not null primary key, title text not null,
          release_year year, language_id smallint not null default 1, rental_duration smallint default 3 not null,
          rental_rate numeric(4,2) default 4.99 not null, views bigint_positive, rating mpaa_rating default 'G'::mpaa_rating,
          last_update timestamp with time zone default now() not null, create_date date default ('now'::text)::date not null,
          special_features text[], fulltext tsvector)`,
        `create function last_updated() returns trigger language plpgsql as $$ begin new.last_update = current_timestamp; return new; end $$`,
        'create trigger last_updated before update on film for each row execute function last_updated()',
        `insert into film (title, release_year, rental_rate, views, rating, last_update, create_date, special_features, fulltext) values
          ('ACADEMY DINOSAUR', 2006, 0.99, 9007199254740993, 'PG', '2022-09-10 16:46:03.905795Z', '2006-02-14', '{Trailers}', 'dinosaur'),
          ('ACE GOLDFINGER', null, 4.99, null, 'NC-17', '2022-09-10 16:46:03.905796Z', '2006-02-15', null, 'gold'),
          ('ADAPTATION HOLES', 2006, 2.99, 0, null, '2022-09-10 16:46:03.905Z', '2006-02-14', '{}', 'hole')`,
      ],
      post: { title: 'x', release_year: 2020, rental_rate: 1.5, last_update: at },
    },
    {
      name: 'film_actor',
      schema: [
        `create table film_actor (actor_id integer not null, film_id integer not null, last_update timestamp with time zone default now() not null,
          constraint film_actor_pkey primary key (actor_id, film_id))`,
        `insert into film_actor values (1, 1, '2022-02-15 10:05:03Z'), (1, 23, '2022-02-15 10:05:03Z'), (2, 1, '2022-02-15 10:05:03.000001Z')`,
      ],
      post: { actor_id: 2, film_id: 23 },
    },
    {
      // Partitioned by its dates.
      name: 'payment',
      schema: [
        `create table payment (payment_id integer not null, amount numeric(5,2) not null, payment_date timestamp with time zone not null)
          partition by range (payment_date)`,
        'alter table payment add constraint payment_pkey primary key (payment_date, payment_id)',
        `create table payment_p2022_01 partition of payment for values from ('2022-01-01 00:00:00+00') to ('2022-02-01 00:00:00+00')`,
        `create table payment_rest partition of payment default`,
        `insert into payment values (1, 2.99, '2022-01-23 13:24:21.100001Z'), (2, 0.99, '2022-01-23 13:24:21.1Z'), (1, 2.99, '2022-02-01 00:00:00Z')`,
      ],
      post: { payment_id: 3, amount: 1.5, payment_date: '2022-01-23T13:24:21.100Z' },
    },
  ],
}
