import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_STORE_MISSING: {
    kind: 'user',
    status: 500,
    message: 'SQLite file not found: "{file}"',
    hint: 'Check the path. Only waypost dev and waypost migrate create a new file.',
  },
  WP_STORE_FILE: {
    kind: 'external',
    status: 503,
    message: 'Cannot open the SQLite file "{file}": {reason}',
    hint: 'Check that it is a SQLite database and that the current user can write to it and to its folder.',
  },
  WP_STORE_PATH: {
    kind: 'user',
    status: 500,
    message: 'The path of the SQLite file has {bytes} bytes; SQLite opens at most {limit}: "{file}"',
    hint: 'Move the project to a shorter path, or use a shorter path in the URL of the database.',
  },
  WP_STORE_REPLACED: {
    kind: 'external',
    status: 503,
    message: 'The SQLite file "{file}" was replaced or overwritten while it was open, and is no longer used',
    hint: 'Stop all processes that use it, then check it with waypost doctor --restored. Restore a backup only if the file is damaged or is not the expected one: see "Backup and restore" in docs/operations.md.',
  },
  WP_STORE_DAMAGED: {
    kind: 'user',
    status: 500,
    message: 'The SQLite file "{file}" is damaged: {reason}',
    hint: 'Restore a backup: see "Backup and restore" in docs/operations.md.',
  },
  WP_STORE_LOG: {
    kind: 'user',
    status: 409,
    message: 'The write-ahead log "{log}" has changes that may not belong to "{file}"',
    hint: 'Stop all processes that use the file. If the log is still there, it belongs to another file: delete it and the -shm file, and restore again.',
  },
  WP_STORE_IN_USE: {
    kind: 'user',
    status: 409,
    message: 'Other processes use the SQLite file "{file}"',
    hint: 'Stop servers, workers, cron lines and shells of SQLite first.',
  },
  WP_STORE_BACKUP_EXISTS: {
    kind: 'user',
    status: 409,
    message: '"{file}" already exists',
    hint: 'Choose a new file for the backup.',
  },
  WP_STORE_TRANSACTION_OVER: {
    kind: 'user',
    status: 500,
    message: 'A statement was sent after its transaction had ended',
    hint: 'Await each statement of a transaction. If a run of a listener with "once" takes too long, its transaction ends early.',
  },
  WP_STORE_BUSY: {
    kind: 'external',
    status: 503,
    message: 'The database "{database}" was busy for {seconds} s',
    hint: 'Try again. If it persists, look for a transaction that does not end.',
  },
  WP_STORE_SCAN: {
    kind: 'external',
    status: 503,
    message: 'The query waited {seconds} s for other queries that read many rows of the database "{database}"',
    hint: 'Try again. Add an index for the query, or use PostgreSQL.',
  },
  WP_STORE_SCAN_TIMEOUT: {
    kind: 'external',
    status: 503,
    message: 'A query that reads many rows of the database "{database}" took longer than {seconds} s',
    hint: 'Add an index for the query, or use PostgreSQL. For a connection, statement_timeout in its config changes the limit.',
  },
  WP_STORE_LOCKED: {
    kind: 'external',
    status: 503,
    message: 'Another process held the lock "{name}" of the database "{database}" for {seconds} s',
    hint: 'Try again when the other process has finished.',
  },
  WP_STORE_IDLE: {
    kind: 'external',
    status: 503,
    message:
      'PostgreSQL ended a transaction in "{database}" because the transaction or a pause of this process took too long',
    hint: 'Try again. If it happens often, check whether the process is suspended or short of CPU time, and check the timeouts of the role.',
  },
  WP_STORE_READ_ONLY: {
    kind: 'external',
    status: 503,
    message: 'The PostgreSQL database "{database}" at "{host}" is read-only at the moment',
    hint: 'Wait until the switchover to another server has finished. If the error persists, check that the URL points to the primary, and check default_transaction_read_only of the role and the database.',
  },
  WP_STORE_FULL: {
    kind: 'external',
    status: 503,
    message: 'The disk of the database "{database}" is full',
    hint: 'Free space on the disk, or enlarge it. The failed statement stored nothing.',
  },
  WP_STORE_CLOSED: {
    kind: 'bug',
    status: 500,
    message: 'The database "{database}" was closed',
  },
  WP_STORE_UNREACHABLE: {
    kind: 'external',
    status: 503,
    message: 'Cannot reach the PostgreSQL database "{database}" at "{host}": {reason}',
    hint: 'Check that the server is running, and check the host, database, user and password in its URL.',
  },
  WP_STORE_CERTIFICATE: {
    kind: 'external',
    status: 503,
    message: 'The PostgreSQL server at "{host}" has a certificate that is not trusted: {reason}',
    hint: 'Specify the certificate of its authority: ?sslmode=verify-full&sslrootcert=FILE. If only the name differs, connect by a name of the certificate, or use ?sslmode=verify-ca. With ?sslmode=require, the connection is encrypted, but the server is not verified.',
  },
  WP_STORE_NO_TLS: {
    kind: 'external',
    status: 503,
    message: 'The PostgreSQL server at "{host}" does not support TLS',
    hint: 'Enable it on the server (ssl = on). In a trusted network, connect without it: ?sslmode=prefer or ?sslmode=disable.',
  },
  WP_STORE_STATEMENT_STALE: {
    kind: 'external',
    status: 503,
    message:
      'The transaction was rolled back, because a table was changed or a pooler switched connections while it ran',
    hint: 'Send the request again. If it keeps happening behind a pooler, set prepare: false for the connection.',
  },
  WP_STORE_STATEMENT_TIMEOUT: {
    kind: 'external',
    status: 503,
    message:
      'PostgreSQL canceled a statement on the database "{database}", because it took too long or an administrator canceled it',
    hint: 'Add an index, or increase statement_timeout in the config of the connection.',
  },
  WP_STORE_URL_INVALID: {
    kind: 'user',
    status: 500,
    message: '"{url}" is not a valid PostgreSQL URL',
    hint: 'Use the form postgresql://USER:PASSWORD@HOST/DATABASE. In the password, write @ as %40, / as %2F and # as %23.',
  },
  WP_STORE_URL_OPTION: {
    kind: 'user',
    status: 500,
    message: 'The option {name}="{value}" of a PostgreSQL URL is not supported: {reason}',
    hint: 'See "PostgreSQL" in docs/operations.md.',
  },
  WP_STORE_VALUE: {
    kind: 'bug',
    status: 500,
    message: 'Value {position} of a statement is {what}, which cannot be stored',
    hint: 'Pass null for a missing value. Numbers and dates must be valid; functions and symbols cannot be stored.',
  },
  WP_STORE_SCRIPT: {
    kind: 'bug',
    status: 500,
    message: 'Parameters cannot be used with several statements at once',
    hint: 'Run the statements one by one.',
  },
  WP_STORE_BEGIN: {
    kind: 'bug',
    status: 500,
    message: 'A statement tried to begin a transaction: "{statement}"',
    hint: 'Use transaction(), which holds the connection until the end.',
  },
  WP_STORE_TRANSACTION_LOST: {
    kind: 'bug',
    status: 500,
    message: 'The transaction ended before its commit, so nothing was stored',
    hint: 'Do not continue after a statement has failed, and do not run COMMIT or ROLLBACK yourself.',
  },
})
