import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_RELEASE_SUPERSEDED: {
    kind: 'user',
    status: 409,
    message: 'The active release is {active}, not {expected}',
    hint: 'Check what has changed and deploy again: waypost deploy --plan shows the differences.',
  },
  WP_RELEASE_ACTIVATED_SINCE: {
    kind: 'user',
    status: 409,
    message: '{by} has activated the release {active} in the meantime',
    hint: 'Check what has changed and try again.',
  },
  WP_RELEASE_REPLACED: {
    kind: 'user',
    status: 409,
    message: 'The release {id} was activated, and then superseded by {active}',
    hint: 'Servers will serve {active}, so there is nothing to roll back. waypost release:list shows who activated it.',
  },
  WP_RELEASE_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown release "{id}"',
    hint: 'List the releases with waypost release:list. The first characters of an id are enough.',
  },
  WP_RELEASE_AMBIGUOUS: {
    kind: 'user',
    status: 409,
    message: '"{id}" matches {count} releases: {ids}',
    hint: 'Write more characters of the id.',
  },
  WP_RELEASE_NO_PREVIOUS: {
    kind: 'user',
    status: 409,
    message: 'There is no previous release to roll back to: {reason}',
    hint: 'Choose a release from waypost release:list and run: waypost release:rollback ID',
  },
  WP_RELEASE_BREAKING: {
    kind: 'user',
    status: 409,
    message: 'The release {id} is not compatible with migrations that have run since: {names}',
    hint: 'Fix the project and deploy it instead. You can only roll back to a release that contains these migrations.',
  },
  WP_RELEASE_MIGRATIONS: {
    kind: 'user',
    status: 409,
    message: 'The release {id} needs migrations that have not run or were reverted: {names}',
    hint: 'Deploy the release from its sources: waypost deploy --migrate',
  },
  WP_RELEASE_SERVERS_OLDER: {
    kind: 'user',
    status: 409,
    message: 'The release {id} was built by waypost {built}, but some servers run an older version: {servers}',
    hint: 'Update these servers first, or activate a release that they support.',
  },
  WP_RELEASE_MIGRATIONS_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The release needs migrations that have not run: {names}',
    hint: 'Run them before it is activated: deploy with --migrate, or publish with "migrate".',
  },
  WP_RELEASE_MIGRATIONS_DROPPED: {
    kind: 'user',
    status: 409,
    message: 'The release is missing migrations that have already run: {names}',
    hint: 'Run waypost pull if they were published in the backend. Otherwise, restore their files in migrations/ from version control. waypost release:files ID --output DIR restores migrations in YAML from a release.',
  },
  WP_RELEASE_ACTION: {
    kind: 'user',
    status: 409,
    message: '{method} {path} would fail: {problem}{more}',
    hint: 'Correct the config of the action, or change the table, and try again.',
  },
  WP_RELEASE_VARIABLES: {
    kind: 'user',
    status: 409,
    message: 'The release needs variables that are not set: {names} (on {servers})',
    hint: 'Set them with waypost env:set or on the page Variables. These servers keep the previous release otherwise; to deploy anyway, add --yes',
  },
  WP_RELEASE_BREAKING_CHANGES: {
    kind: 'user',
    status: 409,
    message: '{count} and must be confirmed; nothing was changed',
    hint: 'Check the plan. To confirm, add --yes to the command, or "allow_breaking" to the request.',
  },
  WP_RELEASE_BREAKING_FORBIDDEN: {
    kind: 'user',
    status: 409,
    message: '{count}, which the setting "breaking_changes: forbid" does not allow; nothing was changed',
    hint: 'Keep everything that callers use, and add the new parts alongside. To activate it anyway, add --allow-breaking to the command, or "allow_breaking" to the request.',
  },
  WP_RELEASE_CORRUPT: {
    kind: 'bug',
    status: 500,
    message: 'The release {id} in System is damaged: {what}',
    hint: 'Deploy the same sources again to restore it, or activate another release: waypost release:rollback',
  },
  WP_RELEASE_FILES: {
    kind: 'bug',
    status: 500,
    message: 'The definition file {hash} of the activation is missing in System or was changed',
    hint: 'Deploy the same sources again to restore it.',
  },
  WP_RELEASE_NO_FILES: {
    kind: 'user',
    status: 404,
    message: 'The release {id} was activated without its definition files',
    hint: 'Deploy its sources again, with this version of Waypost: npx waypost deploy',
  },
  WP_RELEASE_NEWER: {
    kind: 'user',
    status: 503,
    message: 'The active release was built by waypost {built}; this is version {own}',
    hint: 'Install waypost {built} here, or deploy with this version.',
  },
  WP_RUNTIME_ARTIFACT_CORRUPT: {
    kind: 'external',
    status: 503,
    message: 'The content of the artifact "{hash}" does not match its name, so it was not run',
    hint: 'The data in System was changed or truncated. Deploy again.',
  },
  WP_RUNTIME_ARTIFACT_MISSING: {
    kind: 'external',
    status: 503,
    message: 'The artifact "{hash}" is missing',
    hint: 'The release is incomplete. Deploy again.',
  },
  WP_RELEASE_FILE: {
    kind: 'external',
    status: 503,
    message: 'Cannot write the file "{name}" of the release below {folder}: {reason}',
    hint: 'Make the folder writable for the server, or set TMPDIR to another folder.',
  },
  WP_RUNTIME_IMPORT_WAITS: {
    kind: 'user',
    status: 500,
    message: 'The import of {file} did not finish',
    hint: 'A top-level await never completes. Move it into handle, or open the resource as a connection.',
  },
  WP_RUNTIME_ARTIFACT_IMPORT: {
    kind: 'user',
    status: 500,
    message:
      'The code of the release imports "{name}" at run time; only Node modules and "waypost" can be imported at run time',
    hint: 'Import it by a literal name so that it is bundled into the release.',
  },
})
