import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_RELEASE_SUPERSEDED: {
    kind: 'user',
    status: 409,
    message: 'The active release is {active}, not {expected}',
    hint: 'Look at what is active now and deploy again: waypost deploy shows the difference first.',
  },
  WP_RELEASE_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'There is no release "{id}"',
    hint: 'waypost release:list shows those that there are; the beginning of an id is enough.',
  },
  WP_RELEASE_AMBIGUOUS: {
    kind: 'user',
    status: 409,
    message: '"{id}" is the beginning of {count} releases: {ids}',
    hint: 'Give more of its id.',
  },
  WP_RELEASE_NO_PREVIOUS: {
    kind: 'user',
    status: 409,
    message: 'There is no release to go back to: {reason}',
    hint: 'Name one of waypost release:list: waypost release:rollback ID',
  },
  WP_RELEASE_BREAKING: {
    kind: 'user',
    status: 409,
    message: 'The release {id} cannot work with what ran since: {names}, marked breaking: true',
    hint: 'Mend it forwards: correct the project and deploy it. A release that has these migrations can be gone back to.',
  },
  WP_RELEASE_MIGRATIONS: {
    kind: 'user',
    status: 409,
    message: 'The release {id} needs migrations that have not run, or were taken back: {names}',
    hint: 'Deploy it from its sources: waypost deploy --migrate',
  },
  WP_RELEASE_SERVERS_OLDER: {
    kind: 'user',
    status: 409,
    message: 'The release {id} was built by waypost {built}, and servers are older: {servers}',
    hint: 'Bring them up to that version first, or go back to a release that they know.',
  },
  WP_RELEASE_CORRUPT: {
    kind: 'bug',
    status: 500,
    message: 'The release {id} in System is not what was stored: {what}',
    hint: 'Deploy the same sources again, which stores what is missing; or go back to another one: waypost release:rollback',
  },
  WP_RELEASE_NEWER: {
    kind: 'user',
    status: 503,
    message: 'The active release was built by waypost {built}; this is {own}',
    hint: 'Install that version of waypost here, or deploy with this one.',
  },
  WP_RUNTIME_ARTIFACT_CORRUPT: {
    kind: 'external',
    status: 503,
    message: 'The artifact "{hash}" is not what its name says and was not run',
    hint: 'What System holds was changed or cut off: deploy again.',
  },
  WP_RUNTIME_ARTIFACT_MISSING: {
    kind: 'external',
    status: 503,
    message: 'There is no artifact "{hash}"',
    hint: 'The release is not complete: deploy again.',
  },
  WP_RELEASE_FILE: {
    kind: 'external',
    status: 503,
    message: 'The file "{name}" of the release cannot be written below {folder}: {reason}',
    hint: 'Let the server write to that folder, or set TMPDIR to another one.',
  },
  WP_RUNTIME_IMPORT_WAITS: {
    kind: 'user',
    status: 500,
    message: 'The import of {file} does not finish',
    hint: 'A top-level await waits for something that never answers: wait in handle, or open it as a connection.',
  },
  WP_RUNTIME_ARTIFACT_IMPORT: {
    kind: 'user',
    status: 500,
    message:
      'The code of a release imports "{name}" when it runs, and only modules of Node and "waypost" can be imported then',
    hint: 'Import it by a fixed name, so that it is bundled into the release.',
  },
})
