import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_AUTH_NO_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'This operation requires an access token{need}',
    hint: 'Send the header "Authorization: Bearer TOKEN".',
  },
  WP_AUTH_TOKEN_FORM: {
    kind: 'user',
    status: 400,
    message: 'The Authorization header must have the form "Bearer TOKEN"',
  },
  WP_AUTH_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'The access token {reason}',
    hint: 'Request a new token.',
  },
  WP_AUTH_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'The token has {carried}; the route requires {needed}',
    hint: 'Request a new token with the scope {needed}. The user and the client must have this scope.',
  },
  WP_AUTH_USER_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'The user "{user}" or the client does not have the scope {needed}',
    hint: 'An administrator can grant it: waypost user:scopes {user} --add {needed}',
  },
  WP_AUTH_FORM_EMPTY: {
    kind: 'user',
    status: 400,
    message: 'Enter a username and a password',
  },
  WP_AUTH_LOGIN: {
    kind: 'user',
    status: 401,
    message: 'Wrong username or password',
  },
  WP_AUTH_THROTTLED: {
    kind: 'user',
    status: 429,
    message: 'Too many login attempts',
    hint: 'Try again in {wait}.',
  },
  WP_AUTH_BUSY: {
    kind: 'external',
    status: 429,
    message: 'Too many logins at the same time',
    hint: 'Try again in a few seconds.',
  },
  WP_AUTH_CALLER_GONE: {
    kind: 'external',
    status: 503,
    message: 'The caller disconnected before its request was processed',
  },
  WP_AUTH_REQUEST_LATE: {
    kind: 'external',
    status: 503,
    message: 'The request waited {seconds} s for this server and was not processed',
    hint: 'Send it again.',
  },
  WP_AUTH_USER_EXISTS: {
    kind: 'user',
    status: 409,
    message: 'The user "{name}" already exists',
    hint: 'Choose another name. To change the scopes of a user: waypost user:scopes',
  },
  WP_AUTH_USER_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown user "{name}"',
    hint: '{hint}',
  },
  WP_AUTH_USER_DISABLED: { kind: 'user', status: 409, message: 'The user "{name}" is disabled' },
  WP_AUTH_NAME: {
    kind: 'user',
    status: 400,
    message: '"{name}" is not a valid name',
    hint: 'Use 1 to 64 letters, digits, dots, dashes, underscores and @. "." and ".." are not allowed.',
  },
  WP_AUTH_PASSWORD_WEAK: {
    kind: 'user',
    status: 400,
    message:
      'A password must have 8 to 1,024 characters, and must not consist only of spaces or one repeated character',
  },
  WP_AUTH_PASSWORD_NAME: {
    kind: 'user',
    status: 400,
    message: 'The password must not be the username or the email address',
    hint: 'Choose another password. Changing only case, spaces or punctuation is not enough.',
  },
  WP_AUTH_SCOPE_NAME: {
    kind: 'user',
    status: 400,
    message: '"{scope}" is not a valid scope name',
    hint: 'Use letters, digits, dots, dashes, underscores, colons and slashes. Separate scopes with commas.',
  },
  WP_AUTH_SCOPE_LACKED: {
    kind: 'user',
    status: 400,
    message: 'Cannot grant the scope {scopes}: the user "{user}" does not have it',
    hint: 'Grant it to the user first: waypost user:scopes {user} --add {scopes}',
  },
  WP_AUTH_GRANT_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'Unknown grant "{grant}"',
    hint: 'Use client_credentials, refresh_token, authorization_code or password.',
  },
  WP_AUTH_REDIRECT_URI: {
    kind: 'user',
    status: 400,
    message: '"{uri}" is not a valid redirect URI: {reason}',
    hint: 'Use https://…, http://127.0.0.1/… or a private scheme with a dot (com.example.app:/…), without a fragment.',
  },
  WP_AUTH_REDIRECT_URIS: {
    kind: 'user',
    status: 400,
    message: 'Too many redirect URIs for one client: {count}',
    hint: 'Use at most {limit}, or add another client.',
  },
  WP_AUTH_CLIENT_NAME: {
    kind: 'user',
    status: 400,
    message: 'The client name is not allowed: {reason}',
    hint: 'Users see it when they sign in: use up to 64 letters of one script, digits, spaces and punctuation.',
  },
  WP_AUTH_CLIENT_UNKNOWN: { kind: 'user', status: 404, message: 'Unknown client "{client}"' },
  WP_AUTH_CLIENT_NO_MATCH: {
    kind: 'user',
    status: 404,
    message: 'No client has the id or name "{client}"',
    hint: '{hint}',
  },
  WP_AUTH_CLIENT_AMBIGUOUS: {
    kind: 'user',
    status: 409,
    message: 'Several clients are named "{client}"',
    hint: 'Use the id instead: {ids}',
  },
  WP_AUTH_CLIENT_BUILT_IN: {
    kind: 'user',
    status: 409,
    message: 'The client {client} is built in and used by all logins',
    hint: 'To block the logins of a user: waypost user:disable NAME',
  },
  WP_AUTH_CLIENT_PUBLIC: {
    kind: 'user',
    status: 409,
    message: 'The client "{client}" is public and has no secret',
    hint: 'Add another client that is not public.',
  },
  WP_AUTH_CLIENT_LIMIT: {
    kind: 'user',
    status: 409,
    message: 'You have reached the limit of {limit} clients',
    hint: 'Delete a client that you no longer need.',
  },
  WP_AUTH_CLIENT_PARTS: {
    kind: 'user',
    status: 400,
    message: 'The client would not work: {reason}',
    hint: 'Add what is missing (on the command line: --redirect-uri), or choose other grants.',
  },
  WP_AUTH_CLIENT_BARRED: {
    kind: 'user',
    status: 403,
    message: 'An administrator disabled the client "{client}"',
    hint: 'Ask an administrator of this server to enable it.',
  },
  WP_AUTH_GRANT_RESERVED: {
    kind: 'user',
    status: 403,
    message: 'Only administrators of this server can give a client the grant "{grant}"',
    hint: 'Use authorization_code instead: users then sign in on a page of this server.',
  },
  WP_AUTH_SCOPE_RESERVED: {
    kind: 'user',
    status: 403,
    message: 'Only administrators of this server can manage clients with administrative scopes ({scopes})',
    hint: 'Add such clients with waypost client:add. You can only disable or delete them here.',
  },
  WP_AUTH_SCOPE_NOT_CARRIED: {
    kind: 'user',
    status: 403,
    message: 'Your token does not have the scope {scopes}, so a client cannot get it',
    hint: 'Omit the scope. If you were granted it recently, log in again.',
  },
  WP_AUTH_OLD_PASSWORD: {
    kind: 'user',
    status: 403,
    message: 'The old password is wrong',
  },
  WP_AUTH_NAME_TAKEN: {
    kind: 'user',
    status: 409,
    message: 'This name is already taken',
    hint: 'Choose another name.',
  },
  WP_AUTH_REGISTRATIONS: {
    kind: 'user',
    status: 429,
    message: 'Too many registrations from this address',
    hint: 'Try again in {wait}.',
  },
  WP_AUTH_TRY_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'A token for trying calls cannot have the scope {scopes}',
    hint: 'It can have the scopes of your own token, except administration scopes (backend.*).',
  },
  WP_AUTH_TRY_RATE: {
    kind: 'user',
    status: 429,
    message: 'More than {limit} tokens for trying calls were requested within a minute',
    hint: 'Try again in {wait}.',
  },
  WP_AUTH_TRY_CLIENT: {
    kind: 'user',
    status: 409,
    message: 'No tokens for trying calls can be issued, because the client of the API reference is disabled',
    hint: 'Ask an administrator of this server to enable it.',
  },
  WP_AUTH_GRANT_NOT_GIVEN: {
    kind: 'user',
    status: 404,
    message: 'You have not granted access to the client "{client}"',
  },
  WP_AUTH_TOKEN_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown token "{jti}"',
    hint: '{hint}',
  },
  WP_AUTH_FIRST_RUN_CODE: {
    kind: 'user',
    status: 403,
    message: 'The code is not valid or has expired',
    hint: 'To get a new code, restart the server on a terminal or with --first-run-code. Or run: waypost user:add NAME --admin',
  },
  WP_AUTH_FIRST_RUN_DONE: {
    kind: 'user',
    status: 403,
    message: 'An administrator already exists',
    hint: 'Sign in, or ask an administrator for an account.',
  },
  WP_AUTH_FIRST_RUN_RATE: {
    kind: 'user',
    status: 429,
    message: 'Too many attempts to create the first administrator',
    hint: 'Try again in {wait}, or run on the server: waypost user:add NAME --admin',
  },
  WP_AUTH_STEP_UP: {
    kind: 'user',
    status: 403,
    message: 'This change requires a password that was entered within the last 15 minutes',
    hint: 'Enter your password again and repeat the request.',
  },
  WP_AUTH_LIFETIME: {
    kind: 'user',
    status: 400,
    message: '"{value}" is not a valid token lifetime',
    hint: 'Write a duration of at most 365d, for example 1h.',
  },
})

/** An error with a code of RFC 6749 §5.2 or RFC 7009. */
export class OAuthError extends Error {
  readonly error: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(
    error: string,
    description: string,
    options: { status?: number; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(limitDescription(description), options.cause === undefined ? {} : { cause: options.cause })
    this.name = 'OAuthError'
    this.error = error
    this.status = options.status ?? 400
    this.headers = options.headers ?? {}
  }
}

const maxDescriptionLength = 300

/** Replaces characters that RFC 6749 §5.2 does not allow; the text may contain input. */
function limitDescription(text: string): string {
  return text
    .slice(0, maxDescriptionLength)
    .replaceAll('"', "'")
    .replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, '?')
}

/** Makes a 401 error with the challenge that RFC 6749 §5.2 requires. */
export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, {
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="waypost", charset="UTF-8"' },
  })
}

/** An error to show on a page, because the client is not known well enough to redirect to it. */
export class PageError extends Error {
  readonly status: number
  readonly title: string
  readonly hint: string | undefined

  constructor(title: string, detail: string, options: { status?: number; hint?: string } = {}) {
    super(detail)
    this.name = 'PageError'
    this.title = title
    this.status = options.status ?? 400
    this.hint = options.hint
  }
}
