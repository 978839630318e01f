import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_AUTH_NO_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'This needs an access token{need}',
    hint: 'Send it as "Authorization: Bearer TOKEN".',
  },
  WP_AUTH_TOKEN_FORM: {
    kind: 'user',
    status: 400,
    message: 'The Authorization header is not of the form "Bearer TOKEN"',
  },
  WP_AUTH_TOKEN: {
    kind: 'user',
    status: 401,
    message: 'The access token {reason}',
    hint: 'Ask for a new one.',
  },
  WP_AUTH_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'This token carries {carried}; the route needs {needed}',
    hint: 'Ask for a new token with the scope {needed}.',
  },
  WP_AUTH_USER_SCOPE: {
    kind: 'user',
    status: 403,
    message: 'The user "{user}" does not have the scope {needed} (any more), or this client has lost it',
    hint: 'Whoever administers this server grants it: waypost user:scopes {user} --add {needed}',
  },
  WP_AUTH_LOGIN: {
    kind: 'user',
    status: 401,
    message: 'There is no active user with this name and password',
  },
  WP_AUTH_THROTTLED: {
    kind: 'user',
    status: 429,
    message: 'Too many attempts to log in',
    hint: 'Try again in {wait}.',
  },
  WP_AUTH_BUSY: {
    kind: 'external',
    status: 429,
    message: 'Too many logins at once',
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
    message: 'The request waited {seconds} s for this server, longer than refresh_grace, and was not processed',
    hint: 'Send it again.',
  },
  WP_AUTH_USER_EXISTS: {
    kind: 'user',
    status: 409,
    message: 'There is a user "{name}" already',
    hint: 'Choose another name; waypost user:scopes changes what a user may do.',
  },
  WP_AUTH_USER_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'There is no user "{name}"',
    hint: '{hint}',
  },
  WP_AUTH_USER_DISABLED: { kind: 'user', status: 409, message: 'The user "{name}" is disabled' },
  WP_AUTH_NAME: {
    kind: 'user',
    status: 400,
    message: '"{name}" cannot be a name',
    hint: 'Use 1 to 64 letters, digits, dots, dashes, underscores and @.',
  },
  WP_AUTH_PASSWORD_WEAK: { kind: 'user', status: 400, message: 'A password needs 8 to 1,024 characters' },
  WP_AUTH_PASSWORD_NAME: {
    kind: 'user',
    status: 400,
    message: 'The password must not be the username',
    hint: 'Choose another password.',
  },
  WP_AUTH_SCOPE_NAME: {
    kind: 'user',
    status: 400,
    message: '"{scope}" cannot be the name of a scope',
    hint: 'Use letters, digits, dots, dashes, underscores, colons and slashes; separate several by commas.',
  },
  WP_AUTH_SCOPE_LACKED: {
    kind: 'user',
    status: 400,
    message: 'The user "{user}" lacks the scope {scopes}, so it cannot be given on',
    hint: 'Give it to the user first: waypost user:scopes {user} --add {scopes}',
  },
  WP_AUTH_GRANT_UNKNOWN: {
    kind: 'user',
    status: 400,
    message: 'There is no grant "{grant}"',
    hint: 'Grants are client_credentials, refresh_token, authorization_code and password.',
  },
  WP_AUTH_REDIRECT_URI: {
    kind: 'user',
    status: 400,
    message: '"{uri}" cannot be a redirect URI: {reason}',
    hint: 'Use https://…, http://127.0.0.1/… or a scheme of your app with a dot (com.example.app:/…), without a fragment.',
  },
  WP_AUTH_REDIRECT_URIS: {
    kind: 'user',
    status: 400,
    message: '{count} redirect URIs are too many for one client',
    hint: 'Give it {limit} at most, or add another client.',
  },
  WP_AUTH_CLIENT_NAME: {
    kind: 'user',
    status: 400,
    message: 'The name of the client is not allowed: {reason}',
    hint: 'Users read it where they sign in: use up to 64 letters of one script, digits, spaces and punctuation.',
  },
  WP_AUTH_CLIENT_UNKNOWN: { kind: 'user', status: 404, message: 'There is no client "{client}"' },
  WP_AUTH_CLIENT_NO_MATCH: {
    kind: 'user',
    status: 404,
    message: 'There is no client with the id or the name "{client}"',
    hint: '{hint}',
  },
  WP_AUTH_CLIENT_AMBIGUOUS: {
    kind: 'user',
    status: 409,
    message: 'Several clients have the name "{client}"',
    hint: 'Say which by its id: {ids}',
  },
  WP_AUTH_CLIENT_BUILT_IN: {
    kind: 'user',
    status: 409,
    message: 'The client {client} is built in: every login belongs to it',
    hint: 'To keep somebody from logging in, disable the user: waypost user:disable NAME',
  },
  WP_AUTH_CLIENT_PUBLIC: {
    kind: 'user',
    status: 409,
    message: 'The client "{client}" is public: it has no secret',
    hint: 'Add another one that can keep a secret.',
  },
  WP_AUTH_CLIENT_LIMIT: {
    kind: 'user',
    status: 409,
    message: 'You have {limit} clients, the most that one user may have',
    hint: 'Delete one that is not needed.',
  },
  WP_AUTH_CLIENT_PARTS: {
    kind: 'user',
    status: 400,
    message: 'This client could not work: {reason}',
    hint: 'Give it what it needs (--redirect-uri at the command line), or other grants.',
  },
  WP_AUTH_CLIENT_BARRED: {
    kind: 'user',
    status: 403,
    message: 'The client "{client}" was disabled by whoever administers this server',
    hint: 'Ask them to enable it again.',
  },
  WP_AUTH_GRANT_RESERVED: {
    kind: 'user',
    status: 403,
    message: 'The grant "{grant}" is given to clients by whoever administers this server only',
    hint: "Use authorization_code, which shows users no page but this server's own.",
  },
  WP_AUTH_SCOPE_RESERVED: {
    kind: 'user',
    status: 403,
    message: 'Clients with scopes of administration ({scopes}) are kept by whoever administers this server',
    hint: 'waypost client:add makes them; here they can be disabled and deleted.',
  },
  WP_AUTH_SCOPE_NOT_CARRIED: {
    kind: 'user',
    status: 403,
    message: 'Your token does not carry {scopes}, so it cannot give that to a client',
    hint: 'Leave it out, or log in again if you have it by now.',
  },
  WP_AUTH_OLD_PASSWORD: {
    kind: 'user',
    status: 403,
    message: 'The old password is not right',
  },
  WP_AUTH_NAME_TAKEN: {
    kind: 'user',
    status: 409,
    message: 'This name cannot be had',
    hint: 'Choose another one.',
  },
  WP_AUTH_REGISTRATIONS: {
    kind: 'user',
    status: 429,
    message: 'Too many registrations from this address',
    hint: 'Try again in {wait}.',
  },
  WP_AUTH_GRANT_NOT_GIVEN: {
    kind: 'user',
    status: 404,
    message: 'You have given no grant to a client "{client}"',
  },
  WP_AUTH_TOKEN_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'There is no token "{jti}"',
    hint: '{hint}',
  },
  WP_AUTH_LIFETIME: {
    kind: 'user',
    status: 400,
    message: '"{value}" is no lifetime of a token',
    hint: 'Write a duration of at most 365d, for example 1h.',
  },
})

/** Error codes of RFC 6749 §5.2 and RFC 7009, as the OAuth2 endpoints answer them. */
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

const longestDescription = 300

/** The characters that RFC 6749 §5.2 allows, whatever a caller put into the value that is named. */
function limitDescription(text: string): string {
  return text
    .slice(0, longestDescription)
    .replaceAll('"', "'")
    .replace(/[^\x20-\x21\x23-\x5B\x5D-\x7E]/g, '?')
}

/** 401 with the challenge that RFC 6749 §5.2 asks for. */
export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, {
    status: 401,
    headers: { 'www-authenticate': 'Basic realm="waypost", charset="UTF-8"' },
  })
}

/** Something that the user is told on a page: the client is not known well enough to be sent an answer. */
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
