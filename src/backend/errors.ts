import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_BACKEND_UI_FILE: {
    kind: 'user',
    status: 404,
    message: 'This version of the backend has no file "{name}"',
    hint: 'Reload the page: the server was updated.',
  },
  WP_BACKEND_UI_MISSING: {
    kind: 'bug',
    status: 503,
    message: 'The pages of the backend are not part of this installation of Waypost',
    hint: 'Install the published package, or run npm ci and npm run build in its sources.',
  },
  WP_BACKEND_DEPLOY_OFF: {
    kind: 'user',
    status: 403,
    message: 'This server does not accept deployments over HTTP: WAYPOST_REMOTE_DEPLOY is off',
    hint: 'Deploy without --url from a machine whose WAYPOST_SYSTEM_URL points to its System, or ask an administrator to unset WAYPOST_REMOTE_DEPLOY on the server.',
  },
  WP_BACKEND_DEVELOPMENT: {
    kind: 'user',
    status: 403,
    message: 'This server runs waypost dev, which serves only the project in its folder',
    hint: 'Deploy to a server that runs waypost serve.',
  },
  WP_BACKEND_PROTOCOL: {
    kind: 'user',
    status: 400,
    message: 'This server (waypost {version}) uses version {own} of the deployment protocol, not {given}',
    hint: "Deploy with the server's version of waypost: npx waypost@{version} deploy",
  },
  WP_BACKEND_OLDER: {
    kind: 'user',
    status: 409,
    message: 'The release was built by waypost {built}; this server runs {own}, which may not support all of it',
    hint: 'Update the servers first, or deploy with their version: npx waypost@{own} deploy',
  },
  WP_BACKEND_MANIFEST: {
    kind: 'user',
    status: 400,
    message: 'The manifest of the release is not valid: {problem}{more}',
    hint: 'Check the project with waypost validate. Use the same version of waypost on both sides and deploy again.',
  },
  WP_BACKEND_BODY: {
    kind: 'user',
    status: 400,
    message: 'Cannot read the body: {reason}',
  },
  WP_BACKEND_BODY_SIZE: {
    kind: 'user',
    status: 413,
    message: 'The body is larger than {limit} bytes, compressed or uncompressed',
    hint: 'Keep large data out of the release: load it from a database or a file store.',
  },
  WP_BACKEND_BODY_ENCODING: {
    kind: 'user',
    status: 415,
    message: 'The content encoding "{encoding}" is not supported',
    hint: 'Send the body uncompressed or with gzip.',
  },
  WP_BACKEND_ARTIFACT_HASH: {
    kind: 'user',
    status: 400,
    message: 'The content of the artifact {hash} does not match its name: its SHA-256 is {found}',
    hint: 'It was changed in transit. Deploy again.',
  },
  WP_BACKEND_ARTIFACT_SIZE: {
    kind: 'user',
    status: 413,
    message: 'The artifact {hash} has {bytes} bytes; the limit is {limit}',
    hint: 'Load large data from a database or a file store instead of bundling it.',
  },
  WP_BACKEND_ARTIFACTS_MISSING: {
    kind: 'user',
    status: 409,
    message: '{count} artifacts of the release were not uploaded, for example {first}',
    hint: 'Deploy again to upload the missing artifacts.',
  },
  WP_BACKEND_UPLOADS_FULL: {
    kind: 'user',
    status: 507,
    message: 'Unfinished deployments have uploaded {bytes} bytes to this server; the limit is {limit}',
    hint: 'They are deleted one day after their upload. Until then, deploy without --url from a machine whose WAYPOST_SYSTEM_URL points to System.',
  },
  WP_BACKEND_MIGRATIONS_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The release needs migrations that have not run: {names}',
    hint: 'Run them and deploy with: waypost deploy --migrate',
  },
  WP_BACKEND_MIGRATION: {
    kind: 'user',
    status: 409,
    message: '{reason}',
    hint: '{hint}',
  },
  WP_BACKEND_RATE: {
    kind: 'user',
    status: 429,
    message: 'More than {limit} requests in {window} s',
    hint: 'Try again in {seconds} s.',
  },
  WP_BACKEND_CLIENT_BUSY: {
    kind: 'user',
    status: 429,
    message: 'This server is already processing {limit} deployment requests of this client',
    hint: 'Wait for their responses, or try again in a few seconds.',
  },
  WP_BACKEND_BUSY: {
    kind: 'user',
    status: 503,
    message: 'This server is busy with other uploads',
    hint: 'Try again in a few seconds.',
  },
  WP_BACKEND_CHANGED: {
    kind: 'user',
    status: 412,
    message: 'Someone else has changed this in the meantime',
    hint: 'Compare with the current state, which is in "current", and send the change again with its ETag in If-Match.',
  },
  WP_BACKEND_PERIODS: {
    kind: 'user',
    status: 400,
    message: 'The time from "from" to "to" has {periods} periods by {by}; the limit is {limit}',
    hint: 'Request a shorter time, or periods by hour.',
  },
})
