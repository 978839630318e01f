import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_MIGRATE_FAILED: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" failed and was rolled back: {reason}',
    hint: 'Fix it and {again}. {before}',
  },
  WP_MIGRATE_UNFINISHED: {
    kind: 'user',
    status: 500,
    message:
      'The migration "{name}" failed outside a transaction, and the changes that it had already made remain: {reason}',
    hint: 'Make sure that it can be repeated, fix it and {again}. {before} See "Outside a transaction" in docs/migrations.md.',
  },
  WP_MIGRATE_OUTSIDE: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" was rolled back, because a statement cannot run in its transaction: {reason}',
    hint: 'Set "transaction: false" in a migration with only this statement, or "concurrently: true" for an index, and {again}. {before} See docs/migrations.md.',
  },
  WP_MIGRATE_TRANSACTION: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" ended its transaction itself, so its changes remain, but it is not recorded',
    hint: 'Undo its changes, remove its COMMIT or ROLLBACK and {again}. To run it outside a transaction, set "transaction: false"; see docs/migrations.md.',
  },
  WP_MIGRATE_STOPPED: {
    kind: 'user',
    status: 500,
    message: 'Stopped at the migration "{name}": {state}',
    hint: '{before} To continue, {again}.',
  },
  WP_MIGRATE_ALONE: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" runs outside a transaction, so it cannot be reverted together with others',
    hint: 'Revert one migration at a time: npx waypost migrate:down',
  },
  WP_MIGRATE_SCHEMA: {
    kind: 'user',
    status: 500,
    message: 'The role "{role}" may not create tables in the database "{target}" (search_path: {path})',
    hint: 'Grant it: grant usage, create on schema {schema} to "{role}". Or use a schema in which it has these privileges: ?search_path=SCHEMA.',
  },
  WP_MIGRATE_FOREIGN_KEY: {
    kind: 'user',
    status: 500,
    message: 'Rows would refer to rows that no longer exist: {rows}',
    hint: 'Delete or change these rows in the migration too: on SQLite, "on delete" and "on update" have no effect in a migration.',
  },
  WP_MIGRATE_BREAKS: {
    kind: 'user',
    status: 500,
    message: '{what} would no longer work: {reason}',
    hint: 'Drop or change it in the migration too.',
  },
  WP_MIGRATE_EDITED: {
    kind: 'user',
    status: 500,
    message: 'Migrations changed after they were applied: {names}',
    hint: 'Restore the files and write a new migration. If an edit does not change what a migration does: npx waypost migrate:accept NAME. In development, this reverts and reapplies them and deletes the rows of their tables: {redo}',
  },
  WP_MIGRATE_UNKNOWN: {
    kind: 'user',
    status: 500,
    message: 'Migrations applied to the database, but missing from the project: {names}',
    hint: 'Update the project or restore the file. In development, this reverts them and deletes the rows of their tables: {redo}',
  },
  WP_MIGRATE_NO_DOWN: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" has no down function',
    hint: 'Write one, or undo its changes in a new migration.',
  },
  WP_MIGRATE_IRREVERSIBLE: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" cannot be reverted: {reason}',
    hint: 'The data is lost. Restore a backup, or undo its changes in a new migration.',
  },
  WP_MIGRATE_COLUMN: {
    kind: 'user',
    status: 500,
    message: 'The table "{table}" has no column "{column}" in the database',
    hint: 'Run migrate:status to see which migrations were applied.',
  },
  WP_MIGRATE_INDEX: {
    kind: 'user',
    status: 500,
    message: 'The table "{table}" has no index ({columns}) in the database',
    hint: 'Run migrate:status to see which migrations were applied.',
  },
  WP_MIGRATE_VALUES: {
    kind: 'user',
    status: 500,
    message: 'Rows of "{table}" have values of "{column}" that the column would no longer allow: {found}',
    hint: 'Change these rows in a TypeScript migration before this one, or keep the values.',
  },
  WP_MIGRATE_VALUE_DEFAULT: {
    kind: 'user',
    status: 500,
    message: 'The default "{value}" of "{column}" in "{table}" would no longer be one of its values',
    hint: 'Give the column another default in the same step.',
  },
  WP_MIGRATE_REVERT: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" could not be {what}: {reason}',
    hint: 'Nothing was changed. Fix the migration and run the command again.',
  },
  WP_MIGRATE_TARGET: {
    kind: 'user',
    status: 500,
    message: 'Unknown migration "{name}"',
    hint: 'Use a name without its file extension. {guess}',
  },
})
