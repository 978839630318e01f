import { defineErrors } from '../kit/index.ts'

export const errors = defineErrors({
  WP_BACKEND_DEPLOY_OFF: {
    kind: 'user',
    status: 403,
    message: 'This server takes no deployments over HTTP: WAYPOST_REMOTE_DEPLOY is off',
    hint: 'Deploy where WAYPOST_SYSTEM_URL names its System, without --url; or have WAYPOST_REMOTE_DEPLOY removed there.',
  },
  WP_BACKEND_DEVELOPMENT: {
    kind: 'user',
    status: 403,
    message: 'This is waypost dev, which serves what stands in its own folder',
    hint: 'Deploy to a server that was started by waypost serve.',
  },
  WP_BACKEND_PROTOCOL: {
    kind: 'user',
    status: 400,
    message: 'This server (waypost {version}) speaks version {own} of the deployment protocol, not {given}',
    hint: 'Deploy with the version of waypost that the server has: npx waypost@{version} deploy',
  },
  WP_BACKEND_OLDER: {
    kind: 'user',
    status: 409,
    message: 'The release was built by waypost {built}; this server has {own}, which may pass over what it says',
    hint: 'Update the servers first, or deploy with their version: npx waypost@{own} deploy',
  },
  WP_BACKEND_MANIFEST: {
    kind: 'user',
    status: 400,
    message: 'The release is none that a project without errors gives: {problem}{more}',
    hint: 'Update waypost on both sides to the same version and deploy again; waypost validate checks the project.',
  },
  WP_BACKEND_BODY: {
    kind: 'user',
    status: 400,
    message: 'The body cannot be read: {reason}',
  },
  WP_BACKEND_BODY_SIZE: {
    kind: 'user',
    status: 413,
    message: 'The body is larger than {limit} bytes, as it was sent or as it is unpacked',
    hint: 'A release is made of code and definitions: load large data from a database or a file store.',
  },
  WP_BACKEND_BODY_ENCODING: {
    kind: 'user',
    status: 415,
    message: 'A body that is encoded as "{encoding}" is not read',
    hint: 'Send it as it is, or by gzip.',
  },
  WP_BACKEND_ARTIFACT_HASH: {
    kind: 'user',
    status: 400,
    message: 'What was sent as the artifact {hash} has another content: its SHA-256 is {found}',
    hint: 'Something on the way changed it: deploy again.',
  },
  WP_BACKEND_ARTIFACT_SIZE: {
    kind: 'user',
    status: 413,
    message: 'The artifact {hash} has {bytes} bytes; {limit} are the most',
    hint: 'Load large data from a database or a file store instead of bundling it.',
  },
  WP_BACKEND_ARTIFACTS_MISSING: {
    kind: 'user',
    status: 409,
    message: '{count} of the artifacts that the release names were not uploaded, {first} for one',
    hint: 'Deploy again: what is missing is uploaded then.',
  },
  WP_BACKEND_UPLOADS_FULL: {
    kind: 'user',
    status: 507,
    message: 'Deployments that were never finished have left {bytes} bytes here; {limit} are the most',
    hint: 'They are deleted a day after they were uploaded. Until then deploy where WAYPOST_SYSTEM_URL names System.',
  },
  WP_BACKEND_MIGRATIONS_PENDING: {
    kind: 'user',
    status: 409,
    message: 'The release needs migrations that have not run: {names}',
    hint: 'Run them first: waypost deploy --migrate does both.',
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
    message: 'More than {limit} requests for deployments in {window} s',
    hint: 'Try again in {seconds} s.',
  },
  WP_BACKEND_BUSY: {
    kind: 'user',
    status: 503,
    message: 'This server reads other uploads at the moment',
    hint: 'Try again in a few seconds.',
  },
})
