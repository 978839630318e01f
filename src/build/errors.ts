import { defineErrors } from '../kit/index.ts'

const user = { kind: 'user', status: 422 } as const

/** Problems of a build. All but WP_BUILD_CLOSED become diagnostics and are never thrown. */
export const errors = defineErrors({
  WP_BUILD_ACTION_MISSING: {
    ...user,
    message: 'File not found: {file}',
    hint: 'Create it with: waypost generate:action {file}',
  },
  WP_BUILD_ACTION_NO_CLASS: {
    ...user,
    message: 'The default export of {file} is not a class with a method "handle"',
    hint: 'Write: export default class NAME implements Action<"METHOD /path"> { async handle(request, context) { … } }',
  },
  WP_BUILD_ACTION_LOAD: {
    ...user,
    message: 'Cannot load {file}: {reason}',
    hint: 'Top-level code runs when the module is loaded: it must not throw or block',
  },
  WP_BUILD_PLUGIN_BASE: {
    ...user,
    message: 'The plugin "{name}" is not part of the active release',
    hint: 'Code is deployed from a project: add the plugin there, then run: npx waypost deploy',
  },
  WP_BUILD_IMPORT_MISSING: {
    ...user,
    message: 'The import "{name}" cannot be resolved',
  },
  WP_BUILD_OUTSIDE: {
    ...user,
    message: '"{name}" refers to a file outside the project',
    hint: 'Move the file into the project, or install it as a package',
  },
  WP_BUILD_FILE_REFUSED: {
    ...user,
    message: 'Cannot read "{name}": {reason}',
  },
  WP_BUILD_FILES_SIZE: {
    ...user,
    message:
      'The files of static folders and those referenced with new URL have {size} MB or more; the limit is {limit} MB',
    hint: 'Keep large files on the server or in a storage service, and refer to them with a variable under "env:"',
  },
  WP_BUILD_NATIVE: {
    ...user,
    message: '"{name}" cannot be part of a release: {reason}',
    hint: 'Servers do not install packages. Use a package without native code, or call a service that does the work',
  },
  WP_BUILD_FILE_KIND: {
    ...user,
    message: '"{name}" has a file type that cannot be part of a release',
    hint: 'Only code, JSON and .txt files can be imported: convert the content to one of these',
  },
  WP_BUILD_MIGRATION_NO_EXPORT: {
    ...user,
    message: 'The migration {file} has no default export',
    hint: 'Write: export default { async up(db, type) { … }, async down(db) { … } } satisfies Migration',
  },
  WP_BUILD_MIGRATION_CONNECTION: {
    ...user,
    message: 'The folder migrations/{name} does not match any connection',
    hint: 'Rename it to System, or to an entry of "connection:" in waypost.yml',
  },
  WP_BUILD_MIGRATION_TWICE: {
    ...user,
    message: 'The migration {other} has the same name',
    hint: 'Rename one of the two',
  },
  WP_BUILD_MIGRATION_EMPTY: {
    ...user,
    message: 'The migration {file} has no steps yet',
    hint: 'Write its steps, for example "create_table:". Until then it stays pending',
  },
  WP_BUILD_MIGRATION_STEP: {
    ...user,
    message: '{problem}',
  },
  WP_BUILD_TABLES_FILE: {
    ...user,
    message: 'Cannot use {file}: {reason}',
    hint: 'Write it again: npx waypost migrate',
  },
  WP_BUILD_TABLES_UNCOVERED: {
    ...user,
    message: '{file} does not contain the changes of {migration}',
    hint: 'Update and commit it: npx waypost migrate',
  },
  WP_BUILD_TABLES_EDITED: {
    ...user,
    message: '{migration} has changed since {file} was written',
    hint: 'If it was not applied, or the change does not affect what it does, update the file: npx waypost migrate. Otherwise restore the migration and write a new one',
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
    message: 'Actions should not read process.env: it does not include .env, and deployments do not check it',
    hint: 'Declare the variable under "env:" in waypost.yml and read it as context.env.NAME',
  },
  WP_BUILD_MODULE_RESOURCE: {
    ...user,
    message: '{opens} runs whenever this module is loaded: for each release on a server, and for each save in dev',
    hint: "Close what it opens: import { onClose } from 'waypost', or use a connection",
  },
  WP_BUILD_TSCONFIG: {
    ...user,
    message: 'Waypost ignores "{name}" in tsconfig.json when it builds a release',
    hint: 'Remove it, and change code that depends on it: at run time, this code would not behave as its types suggest',
  },
  WP_BUILD_OWN_PATH: {
    ...user,
    message: '"{text}" is not defined in a release, which has no folder',
    hint: "Refer to a file of the project directly: new URL('./NAME', import.meta.url)",
  },
  WP_BUILD_PACKAGE_PATH: {
    ...user,
    message: 'The package "{name}" reads files at its own path ({text} in {place}), which a release does not contain',
    hint: 'Import a build of it that needs no files, use another package, or call a service that does the work',
  },
  WP_BUILD_STATIC_FILE: {
    ...user,
    message: 'Cannot serve {name}: {reason}',
    hint: 'Change the folder, or name another one under "static:"',
  },
  WP_BUILD_STATIC_BASE: {
    ...user,
    message: 'The files of the folder "{name}" are not part of the release',
    hint: 'Deploy the project from its folder, or choose a folder of the release: {known}',
  },
  WP_BUILD_CLOSED: {
    kind: 'bug',
    status: 500,
    message: 'The builder is closed and cannot build again',
  },
})
