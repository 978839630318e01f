import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_RUNTIME_NOT_FOUND: { kind: 'user', status: 404, message: 'There is nothing at {path}' },
  WP_RUNTIME_PATH_SIZE: { kind: 'user', status: 414, message: 'A part of the path is longer than {limit} characters' },
  WP_RUNTIME_METHOD: {
    kind: 'user',
    status: 405,
    message: '{path} does not answer {method}',
    hint: 'It answers {allowed}.',
  },
  WP_RUNTIME_NOT_ACCEPTABLE: {
    kind: 'user',
    status: 406,
    message: 'This is answered as {type}, which the header Accept of the request does not take',
    hint: 'Send Accept: {type}, or no such header.',
  },
  WP_RUNTIME_REQUEST_INVALID: { kind: 'user', status: 400, message: 'The request does not fit its schema' },
  WP_RUNTIME_BODY_JSON: { kind: 'user', status: 400, message: 'The body is not JSON: {reason}' },
  WP_RUNTIME_BODY_SIZE: { kind: 'user', status: 413, message: 'The body is larger than {limit} bytes' },
  WP_RUNTIME_BODY_TYPE: {
    kind: 'user',
    status: 415,
    message: 'The body must be application/json',
    hint: 'Send the header Content-Type: application/json.',
  },
  WP_RUNTIME_BODY_ENCODING: {
    kind: 'user',
    status: 415,
    message: 'A body that is encoded as "{encoding}" is not read',
    hint: 'Send it as it is, without the header Content-Encoding.',
  },
  WP_RUNTIME_REQUEST: { kind: 'user', status: 400, message: '{reason}' },
  WP_RUNTIME_RATE: {
    kind: 'user',
    status: 429,
    message: 'More than {limit} requests in {window} s',
    hint: 'Try again in {seconds} s.',
  },
  WP_RUNTIME_TIMEOUT: { kind: 'external', status: 503, message: 'The answer took longer than {seconds} s' },
  WP_RUNTIME_RESULT: {
    kind: 'bug',
    status: 500,
    message: 'The result of {action} does not fit the schema of {status}: {reason}',
    hint: 'Change the action, or the response in its route.',
  },
  WP_RUNTIME_DISPATCH: {
    kind: 'bug',
    status: 500,
    message: 'The result of {action} is dispatched as "{event}", which only JSON can be',
    hint: 'Dispatch the data by context.dispatch.',
  },
  WP_RUNTIME_STATUS: {
    kind: 'bug',
    status: 500,
    message: '{action} answered with the status "{status}"',
    hint: 'Use a whole number from 200 to 599.',
  },
  WP_RUNTIME_ACTION_CLASS: {
    kind: 'user',
    status: 500,
    message: 'The default export of {file} is not a class with a handle method',
  },
  WP_RUNTIME_ACTION_PLUGIN: {
    kind: 'user',
    status: 500,
    message: 'The action class "{class}" is in no plugin of this server',
    hint: 'Classes are {known}.',
  },
  WP_RUNTIME_ACTION_CONFIG: {
    kind: 'user',
    status: 500,
    message: 'The config of an action does not fit its class "{class}": {problem}',
    hint: 'Check the variables that it names.',
  },
  WP_RUNTIME_PORT: {
    kind: 'user',
    status: 500,
    message: 'The port {port} on {host} is taken',
    hint: 'Stop what listens there, or choose another one: --port {next}',
  },
  WP_RUNTIME_LISTEN: { kind: 'user', status: 500, message: 'Cannot listen on {host}:{port}: {reason}' },
  WP_RUNTIME_CLOSING: { kind: 'external', status: 503, message: 'This server is stopping' },
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
