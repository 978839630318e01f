import { defineErrors } from '../../../kit/index.ts'

export const errors = defineErrors({
  WP_PROJECT_REMOTE_URL: {
    kind: 'user',
    status: 500,
    message: 'Cannot connect to "{url}": {reason}',
    hint: 'Use the address that callers of the API use, for example https://api.example.com',
  },
  WP_PROJECT_REMOTE_CREDENTIALS: {
    kind: 'user',
    status: 500,
    message: 'Credentials for {server} are required, but {missing} is not set',
    hint: 'Set {id} and {secret}, or {token}. An administrator of the server creates a client with: waypost client:add deploy --user NAME --scopes backend.read,backend.deploy --grants client_credentials',
  },
  WP_PROJECT_REMOTE_UNREACHABLE: {
    kind: 'external',
    status: 502,
    message: 'Cannot reach {server}: {reason}',
    hint: '{hint}',
  },
  WP_PROJECT_REMOTE_MIGRATING: {
    kind: 'external',
    status: 502,
    message: 'Stopped waiting. The server {server} continues with the migrations',
    hint: 'To see which ones have run: waypost deploy --plan --url {server}. When all have, deploy again.',
  },
  WP_PROJECT_REMOTE_REDIRECT: {
    kind: 'user',
    status: 500,
    message: '{server} redirects to {location}; credentials are not sent to redirect targets',
    hint: 'If {location} is the server, use its address: --url {location}',
  },
  WP_PROJECT_REMOTE_NO_WAYPOST: {
    kind: 'user',
    status: 500,
    message: '{server} is not a Waypost server: {reason}',
    hint: 'Check the address. It must be the WAYPOST_BASE_URL of the server.',
  },
  WP_PROJECT_REMOTE_OLD: {
    kind: 'user',
    status: 500,
    message:
      'The version of Waypost at {server} is too old for this version: it has no deployment endpoints at /backend/deploy',
    hint: 'Update the server first, or deploy with its version (npx waypost@VERSION deploy) or without --url from a machine whose WAYPOST_SYSTEM_URL points to its System.',
  },
  WP_PROJECT_REMOTE_CHANGED: {
    kind: 'user',
    status: 500,
    message: 'Another release was activated at {server} while its active release was copied',
    hint: 'Nothing was changed. Run the command again.',
  },
  WP_PROJECT_REMOTE_PROTOCOL: {
    kind: 'user',
    status: 500,
    message: 'Waypost at {server} uses a different deployment protocol than this version ({own})',
    hint: "Update the server, or deploy with the server's version: npx waypost@VERSION deploy",
  },
  WP_PROJECT_REMOTE_CLIENT: {
    kind: 'user',
    status: 500,
    message: '{server} did not issue a token for the client {client}: {reason}',
    hint: 'Check {id} and {secret}. On the server, waypost client:list lists the clients and waypost client:secret ID generates a new secret.',
  },
  WP_PROJECT_REMOTE_TOKEN: {
    kind: 'user',
    status: 500,
    message: '{server} rejected WAYPOST_TOKEN: {reason}',
    hint: 'Issue a new token on the server: waypost token:issue --user NAME --scopes backend.read,backend.deploy --expires 1h',
  },
  WP_PROJECT_REMOTE_SCOPE: {
    kind: 'user',
    status: 500,
    message: '{server} denied access: {reason}',
    hint: 'The user and the client both need {scopes}. On the server, run waypost user:scopes NAME --add {scopes}, and create a client with these scopes: waypost client:add deploy --user NAME --scopes {scopes} --grants client_credentials',
  },
  WP_PROJECT_REMOTE_SIZE: {
    kind: 'user',
    status: 500,
    message: 'A proxy in front of {server} rejected a body of {bytes} bytes',
    hint: 'Raise its limit for /backend/deploy (for nginx: client_max_body_size), or deploy without --url from a machine whose WAYPOST_SYSTEM_URL points to System.',
  },
  WP_PROJECT_REMOTE_LATER: {
    kind: 'external',
    status: 503,
    message: '{server} cannot handle the request now: {reason}',
    hint: 'Nothing was activated. Try again in {seconds} s.',
  },
  WP_PROJECT_REMOTE_FAILED: {
    kind: 'external',
    status: 502,
    message: '{server} returned status {status}: {reason}',
    hint: 'See the log of the server.',
  },
})
