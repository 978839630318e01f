import { defineErrors } from '../../../kit/index.ts'

export const errors = defineErrors({
  WP_PROJECT_REMOTE_URL: {
    kind: 'user',
    status: 500,
    message: '"{url}" is no address to deploy to: {reason}',
    hint: 'Give the address that callers of the API use, for example --url https://api.example.com',
  },
  WP_PROJECT_REMOTE_CREDENTIALS: {
    kind: 'user',
    status: 500,
    message: 'There is nothing to sign in with at {server}: {missing} is not set',
    hint: 'Set WAYPOST_CLIENT_ID and WAYPOST_CLIENT_SECRET, or WAYPOST_TOKEN. Who administers the server makes a client: waypost client:add deploy --user NAME --scopes backend.read,backend.deploy --grants client_credentials',
  },
  WP_PROJECT_REMOTE_UNREACHABLE: {
    kind: 'external',
    status: 502,
    message: '{server} cannot be reached: {reason}',
    hint: '{hint}',
  },
  WP_PROJECT_REMOTE_REDIRECT: {
    kind: 'user',
    status: 500,
    message: '{server} answers with a redirect to {location}, which is not followed with credentials',
    hint: 'If that is the server, give its address: --url {location}',
  },
  WP_PROJECT_REMOTE_NO_WAYPOST: {
    kind: 'user',
    status: 500,
    message: 'What answers at {server} is no Waypost server: {answer}',
    hint: 'Check the address: it is the one that WAYPOST_BASE_URL of the server names.',
  },
  WP_PROJECT_REMOTE_OLD: {
    kind: 'user',
    status: 500,
    message: 'The Waypost at {server} takes no deployments over HTTP: it is older than they are',
    hint: 'Update it first, or deploy where WAYPOST_SYSTEM_URL names its System, without --url.',
  },
  WP_PROJECT_REMOTE_PROTOCOL: {
    kind: 'user',
    status: 500,
    message: 'The Waypost at {server} speaks another deployment protocol than this one ({own})',
    hint: 'Deploy with the version that the servers have, as in npx waypost@VERSION deploy, or update them.',
  },
  WP_PROJECT_REMOTE_CLIENT: {
    kind: 'user',
    status: 500,
    message: '{server} gives the client {client} no token: {reason}',
    hint: 'Check WAYPOST_CLIENT_ID and WAYPOST_CLIENT_SECRET. On the server waypost client:list shows the clients, waypost client:secret ID makes a new secret.',
  },
  WP_PROJECT_REMOTE_TOKEN: {
    kind: 'user',
    status: 500,
    message: '{server} does not accept WAYPOST_TOKEN: {reason}',
    hint: 'Make a new one on the server: waypost token:issue --user NAME --scopes backend.read,backend.deploy --expires 1h',
  },
  WP_PROJECT_REMOTE_SCOPE: {
    kind: 'user',
    status: 500,
    message: '{server} refuses this: {reason}',
    hint: 'The user and the client both need {scopes}. On the server: waypost user:scopes NAME --add {scopes}, and a client that has them: waypost client:add deploy --user NAME --scopes {scopes} --grants client_credentials',
  },
  WP_PROJECT_REMOTE_SIZE: {
    kind: 'user',
    status: 500,
    message: 'Something in front of {server} takes no body of {bytes} bytes',
    hint: 'Raise its limit for /backend/release, as client_max_body_size of nginx, or deploy where WAYPOST_SYSTEM_URL names System.',
  },
  WP_PROJECT_REMOTE_LATER: {
    kind: 'external',
    status: 503,
    message: '{server} cannot do this now: {reason}',
    hint: 'Try again in {seconds} s; nothing was activated.',
  },
  WP_PROJECT_REMOTE_FAILED: {
    kind: 'external',
    status: 502,
    message: '{server} answered {status}: {reason}',
    hint: 'Its log says more.',
  },
})
