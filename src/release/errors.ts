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
  WP_RELEASE_CORRUPT: {
    kind: 'bug',
    status: 500,
    message: 'The release {id} in System is not what was stored: {what}',
    hint: 'Deploy again: waypost deploy stores what is missing.',
  },
  WP_RELEASE_NEWER: {
    kind: 'user',
    status: 503,
    message: 'The active release was built by waypost {built}; this is {own}',
    hint: 'Install that version of waypost here, or deploy with this one.',
  },
})
