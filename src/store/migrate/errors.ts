import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_MIGRATE_FAILED: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" failed and was rolled back: {reason}',
    hint: 'Correct it and run the migrations again. {before}',
  },
  WP_MIGRATE_EDITED: {
    kind: 'user',
    status: 500,
    message: 'Changed after being applied: {names}',
    hint: 'Put the text back as it was, and write a new migration for the change.',
  },
  WP_MIGRATE_UNKNOWN: {
    kind: 'user',
    status: 500,
    message: 'Applied to the database, but not in the project: {names}',
    hint: 'Bring the project up to date, or put the file back into its folder in migrations/.',
  },
  WP_MIGRATE_TARGET: {
    kind: 'user',
    status: 500,
    message: 'There is no migration "{name}"',
    hint: 'Name one without its ending. {guess}',
  },
})
