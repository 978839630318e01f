import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_SERVER_NO_SYSTEM: {
    kind: 'user',
    status: 500,
    message: 'There is no System database at {file}, and WAYPOST_SYSTEM_URL is not set',
    hint: 'In a pipeline, set WAYPOST_SYSTEM_URL. On this machine, run waypost dev or waypost migrate first.',
  },
  WP_SERVER_SECRET_MISSING: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_SECRET is required for System at {target}, but not set',
    hint: 'Set it to the secret that System was set up with. For a new System, generate one: openssl rand -base64 32',
  },
  WP_SERVER_BASE_URL_MISSING: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_BASE_URL is required but not set: System at {target} has no issuer yet',
    hint: 'Set it to the address that callers use, for example https://api.example.com.',
  },
  WP_SERVER_BASE_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" is not a valid WAYPOST_BASE_URL',
    hint: 'Use an absolute http:// or https:// URL without a query or fragment.',
  },
  WP_SERVER_BACKEND: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_BACKEND is "{value}", but must be "on", "read" or "off"',
    hint: 'Set it to "read" to disable drafts and publishing in the backend, or to "off" to disable the backend.',
  },
  WP_SERVER_BACKEND_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" is not a valid WAYPOST_BACKEND_URL',
    hint: 'Use the origin of a host for the backend only, such as https://admin.example.com, without a path.',
  },
  WP_SERVER_ISSUER_CHANGED: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_BASE_URL is {given}, but System at {target} issues tokens as {stored}',
    hint: 'Set WAYPOST_BASE_URL to {stored}. To change it permanently, run: waypost issuer:change {given}',
  },
  WP_SERVER_NUMBER: {
    kind: 'user',
    status: 500,
    message: '{name} is "{value}", which is not a valid port',
    hint: 'Use a number from 0 to 65535.',
  },
  WP_SERVER_TRACING_PACKAGES: {
    kind: 'user',
    status: 500,
    message: 'OpenTelemetry is configured, but its packages are not installed',
    hint: 'Install them next to waypost: npm install @opentelemetry/api @opentelemetry/sdk-node; or set OTEL_SDK_DISABLED=true.',
  },
  WP_SERVER_CONNECTION_LIMIT: {
    kind: 'user',
    status: 500,
    message: 'WAYPOST_CONNECTION_LIMIT is "{value}", which is not a valid number of connections',
    hint: 'Use an integer from 1 to 9999999, or leave it unset.',
  },
  WP_SERVER_DURATION: {
    kind: 'user',
    status: 500,
    message: '{name} is "{value}", which is not a duration of at most one hour',
    hint: 'Write it as 500ms, 5s or 1m.',
  },
  WP_SERVER_TRUSTED_PROXIES: {
    kind: 'user',
    status: 500,
    message: '"{value}" in WAYPOST_TRUSTED_PROXIES is not a valid address',
    hint: 'Use addresses and ranges separated by commas, such as 10.0.0.5,192.168.0.0/16, or the names loopback and uniquelocal.',
  },
  WP_SERVER_LOG_LEVEL: {
    kind: 'user',
    status: 500,
    message: 'LOG_LEVEL is "{value}", which is not a log level',
    hint: 'Use one of {levels}.',
  },
  WP_SERVER_VARIABLE: {
    kind: 'user',
    status: 500,
    message: 'The release {release} requires variables that are not set: {variables}',
    hint: 'Set them with waypost env:set, in the environment of this server or in its .env.',
  },
  WP_SERVER_VARIABLE_TYPE: {
    kind: 'user',
    status: 500,
    message: 'The variable "{name}" of the release {release} must be {mismatch}',
    hint: 'Correct it with waypost env:set, in the environment of this server or in its .env.',
  },
  WP_SERVER_SETTING: {
    kind: 'user',
    status: 500,
    message: 'The setting {name} of the release {release} is not valid: {reason}',
    hint: 'Check the variables that it refers to.',
  },
  WP_SERVER_CRONJOB: {
    kind: 'user',
    status: 500,
    message: 'The cronjob {name} of the release {release} is not valid: {reason}',
    hint: 'Check the variables that it refers to.',
  },
  WP_SERVER_MIGRATION_FORM: {
    kind: 'user',
    status: 500,
    message: 'The default export of {file} has no up function',
    hint: 'Use a default export with the functions up and down; see the type Migration of waypost.',
  },
  WP_SERVER_MIGRATION_LOAD: {
    kind: 'user',
    status: 500,
    message: 'Cannot load {file}: {reason}',
    hint: 'Move code that can fail into up or down: loading the file must not fail.',
  },
  WP_SERVER_MIGRATIONS_EDITED: {
    kind: 'user',
    status: 409,
    message: 'Migrations of the release differ from those applied to the target: {names}',
    hint: 'Restore the files as they were, and write a new migration for the change. If an edit does not change what a migration does, accept it in the project folder with the WAYPOST_SYSTEM_URL of the target: waypost migrate:accept NAME',
  },
  WP_SERVER_MIGRATION_CONNECTION: {
    kind: 'user',
    status: 500,
    message: 'migrations/{name}/ does not match any connection',
    hint: 'Declare "{name}" under "connection:" in waypost.yml, or remove the folder.',
  },
  WP_SERVER_MIGRATION_CLASS: {
    kind: 'user',
    status: 500,
    message:
      'migrations/{name}/ cannot be used: the connection "{name}" has the class "{class}", which does not support migrations',
    hint: 'Remove the folder, or use a connection class for a database.',
  },
  WP_HOST_ACTION: {
    kind: 'user',
    status: 422,
    message: '{method} {path} would fail: {problem}',
    hint: 'Correct the config of the action, or write a migration that adds what is missing.',
  },
  WP_HOST_SHARED_ORIGIN: {
    kind: 'user',
    status: 422,
    message: '{name} may serve pages with scripts on the origin of the backend',
    hint: 'Give the backend a host of its own with WAYPOST_BACKEND_URL, see docs/backend.md.',
  },
})
