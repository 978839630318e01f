import { defineErrors } from '../../kit/index.ts'

/** What keeps the commands of events from doing what they were told. */
export const errors = defineErrors({
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
