import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_STORE_MISSING: {
    kind: 'user',
    status: 500,
    message: 'There is no SQLite file "{file}"',
    hint: 'Check the path; only waypost dev and waypost migrate make a new one.',
  },
  WP_STORE_FILE: {
    kind: 'external',
    status: 503,
    message: 'The SQLite file "{file}" cannot be opened: {reason}',
    hint: 'Check that it is a SQLite database and that this user may write to it and to its folder.',
  },
  WP_STORE_BUSY: {
    kind: 'external',
    status: 503,
    message: 'The database "{database}" was busy for {seconds} s',
    hint: 'Try again; if it stays so, look for a transaction that never ends.',
  },
  WP_STORE_LOCKED: {
    kind: 'external',
    status: 503,
    message: 'Another process held the lock "{name}" of the database "{database}" for {seconds} s',
    hint: 'Wait until it is done and try again.',
  },
  WP_STORE_IDLE: {
    kind: 'external',
    status: 503,
    message: 'PostgreSQL ended a transaction in "{database}" because this process did not continue it in time',
    hint: 'Try again. If it happens often, the process is suspended or short of processor time.',
  },
  WP_STORE_FULL: {
    kind: 'external',
    status: 503,
    message: 'The disk of the database "{database}" is full',
    hint: 'Free space on the disk, or enlarge it. Nothing of the failed statement was stored.',
  },
  WP_STORE_CLOSED: {
    kind: 'bug',
    status: 500,
    message: 'The database "{database}" was closed',
  },
  WP_STORE_UNREACHABLE: {
    kind: 'external',
    status: 503,
    message: 'The PostgreSQL database "{database}" at "{host}" cannot be reached: {reason}',
    hint: 'Check that the server runs, and the host, database, user and password of its address.',
  },
  WP_STORE_URL_INVALID: {
    kind: 'user',
    status: 500,
    message: '"{url}" is no PostgreSQL address',
    hint: 'Write it as postgresql://USER:PASSWORD@HOST/DATABASE; characters such as @, / and # in the password as %40, %2F and %23.',
  },
  WP_STORE_VALUE: {
    kind: 'bug',
    status: 500,
    message: 'Value {position} of a statement is {what}, which no database can store',
    hint: 'Pass null where nothing is meant, and JSON text for anything that is no plain value, object or list.',
  },
  WP_STORE_SCRIPT: {
    kind: 'bug',
    status: 500,
    message: 'A text of several statements was given values',
    hint: 'Run the statements one by one.',
  },
  WP_STORE_BEGIN: {
    kind: 'bug',
    status: 500,
    message: 'A statement began a transaction of its own: "{statement}"',
    hint: 'Use transaction(); it holds the connection until the end.',
  },
  WP_STORE_TRANSACTION_LOST: {
    kind: 'bug',
    status: 500,
    message: 'The transaction had ended before its commit, so nothing was stored',
    hint: 'Do not go on after a statement of it has failed, and do not end it by a statement of your own.',
  },
})
