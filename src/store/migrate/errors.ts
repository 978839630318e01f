import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_MIGRATE_FAILED: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" failed and was rolled back: {reason}',
    hint: 'Correct it and {again}. {before}',
  },
  WP_MIGRATE_EDITED: {
    kind: 'user',
    status: 500,
    message: 'Changed after being applied: {names}',
    hint: 'In development revert and reapply it: {redo}. Otherwise restore the text and write a new migration.',
  },
  WP_MIGRATE_UNKNOWN: {
    kind: 'user',
    status: 500,
    message: 'Applied to the database, but not in the project: {names}',
    hint: 'Update the project or restore the file; in development revert it: {redo}',
  },
  WP_MIGRATE_NO_DOWN: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" has no down function',
    hint: 'Write one, or undo what it did by a new migration.',
  },
  WP_MIGRATE_REVERT: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" could not be {what}: {reason}',
    hint: 'Nothing was changed. Correct it and run the command again.',
  },
  WP_MIGRATE_TARGET: {
    kind: 'user',
    status: 500,
    message: 'There is no migration "{name}"',
    hint: 'Name one without its ending. {guess}',
  },
})
