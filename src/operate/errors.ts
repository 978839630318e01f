import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_REVOKE_WHAT: {
    kind: 'user',
    status: 400,
    message: 'Nothing says which tokens to revoke',
    hint: 'Give the JTI of one token, --user NAME or --client ID.',
  },
  WP_SERVER_SECRET_SINGLE: {
    kind: 'user',
    status: 400,
    message: 'WAYPOST_SECRET holds one secret, so there is none to change to',
    hint: 'Make one with openssl rand -base64 32, put it in front: WAYPOST_SECRET="new,old", and run this again.',
  },
  WP_SERVER_SECRET_BEHIND: {
    kind: 'user',
    status: 409,
    message: 'Servers do not use the new secret yet: {servers}',
    hint: 'Start them again, with WAYPOST_SECRET="new,old" where it is set; add --force if they are gone for good.',
  },
  WP_SERVER_ISSUER_DEVELOPMENT: {
    kind: 'user',
    status: 409,
    message: 'System at {target} was made by dev, which takes the issuer from WAYPOST_BASE_URL each time it starts',
    hint: 'Set WAYPOST_BASE_URL and start waypost dev again.',
  },
  WP_SERVER_ISSUER_MOVED: {
    kind: 'user',
    status: 409,
    message: 'Somebody else changed the issuer of System at {target} meanwhile',
    hint: 'Look at it with waypost doctor, and run this again.',
  },
  WP_SERVER_LISTEN_DEVELOPMENT: {
    kind: 'user',
    status: 409,
    message: 'System at {target} is not one of development, whose deliveries reach this machine',
    hint: 'Run this in a project that waypost dev serves; elsewhere subscribe an address on the internet.',
  },
  WP_SERVER_LISTEN_PORT: {
    kind: 'user',
    status: 409,
    message: 'Nothing can listen on port {port}: {reason}',
    hint: 'Choose another one, or leave --port away to take any that is free.',
  },
})
