import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_GRANT: {
    kind: 'user',
    status: 403,
    message: 'Your token does not have the scope {scopes}, so you cannot grant it',
    hint: 'Ask an administrator who has this scope, or run waypost user:scopes on a host.',
  },
  WP_SERVER_CONTROL: {
    kind: 'user',
    status: 403,
    message: '"{name}" has the scope {scopes}, which your token does not have, so you cannot change its credentials',
    hint: 'Ask an administrator who has this scope, or use a command on a host.',
  },
  WP_SERVER_LAST_ADMINISTRATOR: {
    kind: 'user',
    status: 409,
    message: '"{name}" is the last active user with the scope backend.admin',
    hint: 'Grant backend.admin to another user first.',
  },
  WP_SERVER_CONNECTION_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The active release has no connection "{name}"',
    hint: 'List the connections on the page Connections of the backend, or in waypost.yml.',
  },
  WP_SERVER_LISTENER_WITHOUT_RUNS: {
    kind: 'user',
    status: 404,
    message: 'The active release has no listener "{name}", and there are no pending or dead runs of it',
    hint: 'Known listeners: {known}.',
  },
  WP_SERVER_DELAYED_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown delayed event "{id}"',
    hint: 'It may have been sent in the meantime. List delayed events with waypost event:list --delayed.',
  },
  WP_SERVER_CRONJOB_RUN_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The cronjob "{name}" has no run "{id}"',
    hint: 'The last 100 runs are kept.',
  },
  WP_SERVER_FOLDER_NOT_EMPTY: {
    kind: 'user',
    status: 400,
    message: '{folder} is not empty',
    hint: 'Choose a new folder, and copy the files that you need from there.',
  },
  WP_SERVER_REVOKE_WHAT: {
    kind: 'user',
    status: 400,
    message: 'Specify which tokens to revoke',
    hint: 'Pass the JTI of one token, --user NAME or --client ID.',
  },
  WP_SERVER_VARIABLE_NAME: {
    kind: 'user',
    status: 400,
    message: '"{name}" is not a valid variable name',
    hint: 'Use up to 128 letters, digits and underscores, and do not begin with a digit. Never pass the value as an argument.',
  },
  WP_SERVER_VARIABLE_RESERVED: {
    kind: 'user',
    status: 400,
    message: '{name} configures Waypost itself, so it cannot be set in System',
    hint: 'Set it in the environment of each server, or in its .env.',
  },
  WP_SERVER_VARIABLE_VALUE: {
    kind: 'user',
    status: 400,
    message: 'The value of {name} {problem}',
    hint: 'Pass a value of 1 to 65,536 bytes. To remove a variable, use waypost env:unset.',
  },
  WP_SERVER_VARIABLE_UNSET: {
    kind: 'user',
    status: 404,
    message: 'System has no variable {name}',
    hint: 'List the variables with waypost env:list.',
  },
  WP_SERVER_VARIABLE_NEEDED: {
    kind: 'user',
    status: 409,
    message: 'The active release requires {name} ({uses}), which is not set on every server',
    hint: 'Set it in the environment of every server first. Without it, servers keep the last value until they restart. To unset it anyway, add --yes.',
  },
  WP_SERVER_SECRET_SINGLE: {
    kind: 'user',
    status: 400,
    message: 'WAYPOST_SECRET contains only one secret, so there is no new secret to rotate to',
    hint: 'Generate one with openssl rand -base64 32, put it first in WAYPOST_SECRET="new,old", and run this command again.',
  },
  WP_SERVER_SECRET_BEHIND: {
    kind: 'user',
    status: 409,
    message: 'Some servers do not use the new secret yet: {servers}',
    hint: 'Restart them with WAYPOST_SECRET="new,old". If they no longer exist, add --force.',
  },
  WP_SERVER_ISSUER_DEVELOPMENT: {
    kind: 'user',
    status: 409,
    message:
      'System at {target} is a development System: waypost dev sets its issuer from WAYPOST_BASE_URL each time it starts',
    hint: 'Set WAYPOST_BASE_URL and restart waypost dev.',
  },
  WP_SERVER_ISSUER_MOVED: {
    kind: 'user',
    status: 409,
    message: 'The issuer of System at {target} was changed by another process',
    hint: 'Check it with waypost doctor and run this command again.',
  },
  WP_SERVER_BACKUP_POSTGRESQL: {
    kind: 'user',
    status: 400,
    message: 'System at {target} is a PostgreSQL database, which has its own tools for this',
    hint: 'Run: {command}',
  },
  WP_SERVER_BACKUP_OTHER: {
    kind: 'user',
    status: 400,
    message: '"{file}" is not a backup of System',
    hint: 'To restore the file of a connection, name that file: --database FILE',
  },
  WP_SERVER_LISTEN_DEVELOPMENT: {
    kind: 'user',
    status: 409,
    message: 'System at {target} is not a development System, so its deliveries cannot reach this machine',
    hint: 'Run this command in a project served by waypost dev. For other Systems, subscribe a public URL.',
  },
  WP_SERVER_LISTEN_PORT: {
    kind: 'user',
    status: 409,
    message: 'Cannot listen on port {port}: {reason}',
    hint: 'Choose another port, or omit --port to use any free port.',
  },
})
