import { defineErrors } from '../kit/index.ts'

/** What can be wrong with an artifact while it is loaded. */
export const loadErrors = defineErrors({
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
  WP_RUNTIME_ARTIFACT_IMPORT: {
    kind: 'user',
    status: 500,
    message:
      'The code of a release imports "{name}" when it runs, and only modules of Node and "waypost" can be imported then',
    hint: 'Import it by a fixed name, so that it is bundled into the release.',
  },
})
