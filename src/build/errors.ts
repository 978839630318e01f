import { defineErrors } from '../kit/index.ts'

/** What can be wrong while a release is built. All but WP_BUILD_CLOSED become diagnostics and are never thrown. */
export const errors = defineErrors({
  WP_BUILD_ACTION_MISSING: {
    kind: 'user',
    status: 422,
    message: 'There is no file {file}',
    hint: 'To make one: waypost generate:action {file}',
  },
  WP_BUILD_ACTION_NO_CLASS: {
    kind: 'user',
    status: 422,
    message: 'The default export of {file} is no class with a method "handle"',
    hint: 'Write: export default class NAME implements Action<"METHOD /path"> { async handle(request, context) { … } }',
  },
  WP_BUILD_ACTION_LOAD: {
    kind: 'user',
    status: 422,
    message: '{file} does not load: {reason}',
    hint: 'What stands outside of functions runs when the module is loaded: it must neither throw nor wait',
  },
  WP_BUILD_IMPORT_MISSING: {
    kind: 'user',
    status: 422,
    message: 'The import "{name}" cannot be resolved',
  },
  WP_BUILD_OUTSIDE: {
    kind: 'user',
    status: 422,
    message: '"{name}" leads to a file outside the project',
    hint: 'Move the file into the project, or make it a package and install that',
  },
  WP_BUILD_NATIVE: {
    kind: 'user',
    status: 422,
    message: '"{name}" needs the native add-on "{addon}", which cannot be part of a release',
    hint: 'Use a package without native code',
  },
  WP_BUILD_MIGRATION_NO_EXPORT: {
    kind: 'user',
    status: 422,
    message: 'The migration {file} has no default export',
    hint: 'Write: export default { async up(db, type) { … }, async down(db) { … } } satisfies Migration',
  },
  WP_BUILD_MIGRATION_CONNECTION: {
    kind: 'user',
    status: 422,
    message: 'The folder migrations/{name} has the name of no connection',
    hint: 'Name it after an entry of "connection:" in waypost.yml, or System',
  },
  WP_BUILD_SOURCE: {
    kind: 'user',
    status: 422,
    message: '{text}',
  },
  WP_BUILD_SOURCE_WARNING: {
    kind: 'user',
    status: 422,
    message: '{text}',
  },
  WP_BUILD_CLOSED: {
    kind: 'bug',
    status: 500,
    message: 'The builder was closed and cannot build again',
  },
})
