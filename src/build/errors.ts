import { defineErrors } from '../kit/index.ts'

const user = { kind: 'user', status: 422 } as const

/** What can be wrong while a release is built. All but WP_BUILD_CLOSED become diagnostics and are never thrown. */
export const errors = defineErrors({
  WP_BUILD_ACTION_MISSING: {
    ...user,
    message: 'There is no file {file}',
    hint: 'To make one: waypost generate:action {file}',
  },
  WP_BUILD_ACTION_NO_CLASS: {
    ...user,
    message: 'The default export of {file} is no class with a method "handle"',
    hint: 'Write: export default class NAME implements Action<"METHOD /path"> { async handle(request, context) { … } }',
  },
  WP_BUILD_ACTION_LOAD: {
    ...user,
    message: '{file} does not load: {reason}',
    hint: 'What stands outside of functions runs when the module is loaded: it must neither throw nor wait',
  },
  WP_BUILD_IMPORT_MISSING: {
    ...user,
    message: 'The import "{name}" cannot be resolved',
  },
  WP_BUILD_OUTSIDE: {
    ...user,
    message: '"{name}" leads to a file outside the project',
    hint: 'Move the file into the project, or make it a package and install that',
  },
  WP_BUILD_FILE_REFUSED: {
    ...user,
    message: '"{name}" cannot be read: {reason}',
  },
  WP_BUILD_FILES_SIZE: {
    ...user,
    message: 'The files that the code names by new URL have {size} MB together; a release carries at most {limit} MB',
    hint: 'Keep large files in a folder of the server or in a storage service, and name that by a variable under env:',
  },
  WP_BUILD_NATIVE: {
    ...user,
    message: '"{name}" cannot be part of a release: {reason}',
    hint: 'Servers install nothing. Use a package without native code, or call a service that does this work',
  },
  WP_BUILD_FILE_KIND: {
    ...user,
    message: '"{name}" is a file that cannot be part of a release',
    hint: 'Only code, JSON and .txt files can be imported: keep other content in one of those',
  },
  WP_BUILD_MIGRATION_NO_EXPORT: {
    ...user,
    message: 'The migration {file} has no default export',
    hint: 'Write: export default { async up(db, type) { … }, async down(db) { … } } satisfies Migration',
  },
  WP_BUILD_MIGRATION_CONNECTION: {
    ...user,
    message: 'The folder migrations/{name} has the name of no connection',
    hint: 'Name it after an entry of "connection:" in waypost.yml, or System',
  },
  WP_BUILD_SOURCE: {
    ...user,
    message: '{text}',
  },
  WP_BUILD_SOURCE_WARNING: {
    ...user,
    message: '{text}',
  },
  WP_BUILD_PROCESS_ENV: {
    ...user,
    message: 'An action should not read process.env: it does not contain .env, and no deployment checks it',
    hint: 'Declare the variable under env: in waypost.yml and read it as context.env.NAME',
  },
  WP_BUILD_CLOSED: {
    kind: 'bug',
    status: 500,
    message: 'The builder was closed and cannot build again',
  },
})
