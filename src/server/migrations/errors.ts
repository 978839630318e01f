import { defineErrors } from '../../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_MIGRATION_FORM: {
    kind: 'user',
    status: 500,
    message: 'The default export of {file} has no up function',
    hint: 'Its default export must be an object with the methods up and down, as in the type Migration of waypost.',
  },
  WP_SERVER_MIGRATION_LOAD: {
    kind: 'user',
    status: 500,
    message: '{file} cannot be loaded: {reason}',
    hint: 'Whatever a migration needs it does in up or down; loading it must not fail.',
  },
  WP_SERVER_MIGRATIONS_EDITED: {
    kind: 'user',
    status: 409,
    message: 'Migrations of the release were applied to the target with another text: {names}',
    hint: 'Put the text back as it was, and write a new migration for the change.',
  },
  WP_SERVER_MIGRATION_CONNECTION: {
    kind: 'user',
    status: 500,
    message: 'migrations/{name}/ stands for a connection "{name}", and there is none',
    hint: 'Name it under connection: in waypost.yml, or remove the folder.',
  },
  WP_SERVER_MIGRATION_CLASS: {
    kind: 'user',
    status: 500,
    message: 'migrations/{name}/ stands for the connection "{name}", whose class "{class}" has no migrations',
    hint: 'Remove the folder, or use a connection class for a database.',
  },
})
