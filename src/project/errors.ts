import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_PROJECT_NONE: {
    kind: 'user',
    status: 500,
    message: 'There is no waypost.yml in {folder}',
    hint: 'Change into the folder of a project, or make one: waypost init my-api',
  },
  WP_PROJECT_BROKEN: {
    kind: 'user',
    status: 500,
    message: 'The project has {count}; nothing was changed',
    hint: 'Mend what is listed above; waypost validate lists it again.',
  },
  WP_PROJECT_NOT_EMPTY: {
    kind: 'user',
    status: 500,
    message: '{folder} is not empty ({count})',
    hint: 'Choose another folder, or add --force to write only the files that are missing.',
  },
  WP_PROJECT_NO_FOLDER: {
    kind: 'user',
    status: 500,
    message: '{folder} is a file',
    hint: 'Choose another name for the folder.',
  },
  WP_PROJECT_TEMPLATE: { kind: 'user', status: 500, message: 'There is no template "{name}"', hint: '{hint}' },
  WP_PROJECT_NO_TYPESCRIPT: {
    kind: 'user',
    status: 500,
    message: 'The project has no TypeScript installed',
    hint: 'Install it: npm install --save-dev typescript',
  },
  WP_PROJECT_ALLOW_HOST: {
    kind: 'user',
    status: 500,
    message: '"{value}" is not the name of a host',
    hint: 'Give --allow-host a name without scheme, port and path, such as my-machine.local; repeat the flag for more names.',
  },
  WP_PROJECT_PRODUCTION: {
    kind: 'user',
    status: 500,
    message: 'System at {target} is a production one: dev would replace the release that it serves',
    hint: 'Develop on another one: unset WAYPOST_SYSTEM_URL, or remove .waypost/ if nothing in it is needed.',
  },
  WP_PROJECT_PORT: { kind: 'user', status: 500, message: 'The port {port} is taken by {owner}', hint: '{hint}' },
  WP_PROJECT_CONNECTION: {
    kind: 'user',
    status: 500,
    message: 'There is no connection "{name}" with migrations',
    hint: '{hint}',
  },
  WP_PROJECT_NOTHING_TO_MIGRATE: {
    kind: 'user',
    status: 500,
    message: 'There is no waypost.yml in {folder}, and WAYPOST_SYSTEM_URL is not set',
    hint: 'Change into the folder of a project, or set WAYPOST_SYSTEM_URL to the System to bring up.',
  },
  WP_PROJECT_MIGRATION_WHERE: {
    kind: 'user',
    status: 500,
    message: 'Several connections have migrations: {names}',
    hint: 'Choose one:\n{commands}',
  },
  WP_PROJECT_MIGRATION_APPLIED: {
    kind: 'user',
    status: 500,
    message: 'The migration "{name}" has not been applied',
    hint: 'waypost migrate:status lists those that have.',
  },
  WP_PROJECT_MIGRATION_GONE: {
    kind: 'user',
    status: 500,
    message:
      'The migration "{name}" of {connection} was applied, and neither the project nor System has its text any more',
    hint: 'Put the file back to take it back.',
  },
  WP_PROJECT_MIGRATION_NAME: {
    kind: 'user',
    status: 500,
    message: '"{name}" cannot be the name of a migration',
    hint: 'Use letters, digits and dashes, for example create-order.',
  },
  WP_PROJECT_REDO: {
    kind: 'user',
    status: 500,
    message:
      'System at {target} is not one of development: a migration is not done again there, its data would be lost',
    hint: 'Put the text back as it was, and write a new migration for the change: waypost migrate:create NAME',
  },
  WP_PROJECT_MIGRATIONS_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The release needs migrations that have not run on the target: {names}',
    hint: 'waypost deploy --migrate runs them before the release becomes the active one.',
  },
  WP_PROJECT_NO_TARGET: {
    kind: 'user',
    status: 500,
    message: 'There is no System database at .waypost/system.db, and neither WAYPOST_SYSTEM_URL nor --url is set',
    hint: 'In a pipeline set one of them; on this machine run waypost dev or waypost migrate first.',
  },
  WP_PROJECT_BREAKING: {
    kind: 'user',
    status: 409,
    message: '{count}, and nobody is there to say yes; nothing was changed',
    hint: 'Look at them above. To deploy them all the same: --yes',
  },
  WP_PROJECT_BREAKING_FORBIDDEN: {
    kind: 'user',
    status: 409,
    message: '{count}, which "breaking_changes: forbid" keeps from being deployed; nothing was changed',
    hint: 'Keep what callers use beside what is new. To deploy them all the same: --allow-breaking',
  },
  WP_PROJECT_GENERATE: { kind: 'user', status: 422, message: '{problem}', hint: '{hint}' },
  WP_PROJECT_GENERATE_ACCESS: {
    kind: 'user',
    status: 422,
    message: 'Nothing says who may call {route}',
    hint: 'Add --scopes NAME, --scopes "" for any valid token, or --public.',
  },
  WP_PROJECT_WRITE: {
    kind: 'user',
    status: 500,
    message: '{file} cannot be written: {reason}; the project is as it was before',
    hint: 'Mend that and run the command again.',
  },
  WP_PROJECT_TEST_VARIABLE: {
    kind: 'user',
    status: 500,
    message: 'The variable "{name}" is not set in this test',
    hint: 'Set it with the option env of createTestApp. Tests read no .env file unless envFile names one.',
  },
  WP_PROJECT_TEST_CONNECTION: {
    kind: 'user',
    status: 500,
    message: 'The connection "{name}" has the class "{class}", which createTestApp cannot isolate',
    hint: 'Replace it with the option connections of createTestApp: by a config for tests, or by a fake client.',
  },
  WP_PROJECT_TEST_REPLACED: {
    kind: 'user',
    status: 500,
    message: 'createTestApp cannot replace the connection "{name}"',
    hint: '{hint}',
  },
})
