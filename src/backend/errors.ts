import { defineErrors, type WaypostError } from '../kit/index.ts'

export const errors = defineErrors({
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
  WP_BACKEND_FILES: {
    kind: 'user',
    status: 400,
    message: 'The definition file "{path}" is not accepted: {problem}',
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
    message: '{count} artifacts or definition files of the release were not uploaded, for example {first}',
    hint: 'Deploy again to upload what is missing.',
  },
  WP_BACKEND_UPLOADS_FULL: {
    kind: 'user',
    status: 507,
    message: 'Unfinished deployments have uploaded {bytes} bytes to this server; the limit is {limit}',
    hint: 'They are deleted one day after their upload. Until then, deploy without --url from a machine whose WAYPOST_SYSTEM_URL points to System.',
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
  WP_BACKEND_METHOD_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'The release has no method {name}',
    hint: 'List the methods on the page Routes of the backend, or with waypost routes.',
  },
  WP_BACKEND_SINCE: {
    kind: 'user',
    status: 400,
    message: '"{since}" is not a time',
    hint: 'Write how long ago, such as 24h, or an ISO time.',
  },
  WP_BACKEND_TRAFFIC: {
    kind: 'user',
    status: 404,
    message: 'Only waypost dev streams requests and deliveries',
    hint: 'Read the log of the server, its statistics, or its deliveries.',
  },
  WP_BACKEND_DRAFT: {
    kind: 'user',
    status: 404,
    message: 'The definition cannot be edited on this server: WAYPOST_BACKEND is not "on"',
    hint: 'Change the files of the project and deploy it, or set WAYPOST_BACKEND to "on" on this server.',
  },
  WP_BACKEND_DRAFT_DAMAGED: {
    kind: 'user',
    status: 409,
    message: 'The draft is damaged: the definition file {hash} is missing in System or was changed',
    hint: 'Discard all changes on the page Publish, or restore System from a backup.',
  },
  WP_BACKEND_DRAFT_LIMIT: {
    kind: 'user',
    status: 422,
    message: 'The definition is too large or too complex to be edited: {reason}',
    hint: 'Replace the text of a file with a shorter one, or discard the changes. Repeated anchors and aliases, and files with many thousands of entries, take most of the time.',
  },
  WP_BACKEND_DRAFT_QUEUE: {
    kind: 'external',
    status: 503,
    message: 'Too many requests for the draft are waiting',
    hint: 'Try again in a few seconds.',
  },
  WP_BACKEND_DRAFT_THREAD: {
    kind: 'external',
    status: 503,
    message: 'The thread that works on the draft ended: {reason}',
    hint: 'Try again. If it happens again, restart the server and look for the cause in its log.',
  },
  WP_BACKEND_DRAFT_FOLDER: {
    kind: 'user',
    status: 404,
    message: 'waypost dev edits a folder and has no draft',
    hint: 'Use Git to compare or discard changes.',
  },
  WP_BACKEND_DRAFT_CODE: {
    kind: 'user',
    status: 409,
    message: 'A server cannot add code: code is deployed from a project',
    hint: 'Run waypost pull in the folder of the project, add the code there, and deploy it. Actions of a class, such as sql-table, need no code.',
  },
  WP_BACKEND_DRAFT_GENERATE: {
    kind: 'user',
    status: 422,
    message: '{problem}',
    hint: '{hint}',
  },
  WP_BACKEND_DRAFT_CONFLICTS: {
    kind: 'user',
    status: 409,
    message: 'The draft and the active release changed the same values: {names}',
    hint: 'For each conflict, choose the version of the draft (mine) or of the active release (theirs).',
  },
  WP_BACKEND_DRAFT_NOT_EMPTY: {
    kind: 'user',
    status: 409,
    message: 'The draft already has {count} changes',
    hint: 'Publish or discard them first.',
  },
  WP_BACKEND_DRAFT_ACTIVATION: {
    kind: 'user',
    status: 404,
    message: 'No definition files are stored for the activation {number}',
    hint: 'Old activations are pruned, and releases that were deployed by an older version have no definition files.',
  },
  WP_BACKEND_DRAFT_LOOPBACK: {
    kind: 'user',
    status: 403,
    message: 'Files can only be edited from the machine that runs waypost dev',
    hint: 'Open the backend on that machine, or forward its port: ssh -L 3000:localhost:3000 HOST',
  },
  WP_BACKEND_DRAFT_POINTER: {
    kind: 'user',
    status: 400,
    message: '"{at}" is not a JSON pointer',
    hint: 'Write the keys of waypost.yml with a slash before each one, such as /routes/~1todo.',
  },
  WP_BACKEND_DRAFT_ABSENT: {
    kind: 'user',
    status: 404,
    message: 'The definition has no value at {at}',
    hint: 'It may have been removed or renamed. Reload the page.',
  },
  WP_BACKEND_DRAFT_VALUE: {
    kind: 'user',
    status: 422,
    message: 'The value for {at} has more than 200,000 lines and items',
    hint: 'This is the limit for a definition. Keep large data in a database.',
  },
  WP_BACKEND_DRAFT_FILE: {
    kind: 'user',
    status: 404,
    message: '"{file}" is not a file of the definition',
    hint: 'The definition consists of waypost.yml, .yml and .json files in resources/, the files that these include, and declared migrations.',
  },
  WP_BACKEND_DRAFT_ERRORS: {
    kind: 'user',
    status: 422,
    message: 'The change adds {count} to the definition; nothing was saved',
    hint: 'Correct the values that "diagnostics" names, or save with errors: the last valid version is still served.',
  },
  WP_BACKEND_DRAFT_BUSY: {
    kind: 'user',
    status: 409,
    message: 'Nothing was saved: others changed the files {attempts} times in the meantime',
    hint: 'Save again in a moment.',
  },
  WP_BACKEND_DRAFT_REFUSED: {
    kind: 'user',
    status: 422,
    message: '"{file}" cannot be written: {reason}',
    hint: 'The definition consists of waypost.yml, .yml and .json files in resources/, the files that these include, and declared migrations.',
  },
  WP_BACKEND_DRAFT_MIGRATION: {
    kind: 'user',
    status: 409,
    message: '"{file}" cannot be changed: the migration has run, and reverting it would lose data',
    hint: 'Edit the table on its page, which creates a new migration.',
  },
  WP_BACKEND_DRAFT_CONNECTION: {
    kind: 'user',
    status: 404,
    message: 'No connection named "{name}" supports tables',
    hint: 'Declare it under "connection:" in waypost.yml. Connections of a class without migrations have no tables.',
  },
  WP_BACKEND_DRAFT_BROKEN: {
    kind: 'user',
    status: 409,
    message: 'The definition has errors',
    hint: 'Fix the errors in "diagnostics" first.',
  },
  WP_BACKEND_DRAFT_VARIABLE: {
    kind: 'user',
    status: 422,
    message: 'The variable "{name}" cannot be set: {reason}',
    hint: 'Write it to the .env file of the folder by hand, or set it on the page Variables.',
  },
  WP_BACKEND_ROLLBACK_DRAFT: {
    kind: 'user',
    status: 409,
    message: 'The draft has changes, so it cannot keep the undone changes',
    hint: 'Publish or discard them first, or roll back without keeping the undone changes. You can open the undone release as a draft later.',
  },
  WP_BACKEND_PUBLISH_NONE: {
    kind: 'user',
    status: 404,
    message:
      'Nothing can be published on this server: waypost dev serves each save immediately, and WAYPOST_BACKEND=read turns drafts off',
    hint: 'Deploy the project to a server: waypost deploy --url URL',
  },
  WP_BACKEND_PUBLISH_UNKNOWN: {
    kind: 'user',
    status: 404,
    message: 'Unknown publication "{id}"',
    hint: 'Publications are kept for 30 days. The page Releases lists all releases.',
  },
  WP_BACKEND_PUBLISH_RUNNING: {
    kind: 'user',
    status: 409,
    message: '{by} is publishing right now',
    hint: 'Wait until it has finished, then publish again. Its id is in "publish".',
  },
  WP_BACKEND_PUBLISH_STOPPED: {
    kind: 'user',
    status: 409,
    message: 'The publishing server has stopped or has not responded for 30 s',
    hint: 'The draft is unchanged. Publish again.',
  },
  WP_BACKEND_PUBLISH_NOTHING: {
    kind: 'user',
    status: 409,
    message: 'There is nothing to publish: the draft has no changes',
    hint: 'Someone else may have published them. Reload the page.',
  },
  WP_BACKEND_PUBLISH_CHANGE: {
    kind: 'user',
    status: 409,
    message: 'The draft has no change "{name}"',
    hint: 'It may have been published or discarded in the meantime. Reload the page.',
  },
  WP_BACKEND_PUBLISH_OTHER: {
    kind: 'user',
    status: 409,
    message: 'The draft has changed since the plan was made',
    hint: 'Check the new plan, then publish again.',
  },
  WP_BACKEND_PUBLISH_CONFLICTS: {
    kind: 'user',
    status: 409,
    message: 'The draft and the active release both changed {count}',
    hint: 'Choose a value for each of the "conflicts" (in the API: POST /backend/draft/rebase), then publish again.',
  },
  WP_BACKEND_PUBLISH_BROKEN: {
    kind: 'user',
    status: 409,
    message: 'The selected changes have errors',
    hint: 'Fix the errors in "diagnostics", or also select the changes that these depend on.',
  },
  WP_BACKEND_PUBLISH_FAILED: {
    kind: 'bug',
    status: 500,
    message: 'Publishing failed unexpectedly',
    hint: 'The log of the server contains the error. The draft is unchanged.',
  },
  WP_BACKEND_PUBLISH_SCOPE: {
    kind: 'user',
    status: 409,
    message: 'No route or event of the release requires the scope "{scope}"',
    hint: 'Grant other scopes on the page Users.',
  },
  WP_BACKEND_PUBLISH_GRANT: {
    kind: 'user',
    status: 403,
    message: 'Only users with the scope backend.admin can grant scopes',
    hint: 'Publish without granting scopes, and ask an administrator for them.',
  },
  WP_BACKEND_TRY_CLIENT: {
    kind: 'user',
    status: 403,
    message: 'Only the pages of the backend get tokens to try routes',
    hint: 'Issue a token with waypost token:issue, or with the client credentials of your client.',
  },
  WP_BACKEND_PERIODS: {
    kind: 'user',
    status: 400,
    message: 'The range from "from" to "to" has {periods} periods by {by}; the limit is {limit}',
    hint: 'Request a shorter range, or periods by hour.',
  },
})

/** An error whose problem document has more members. */
export class ProblemWith extends Error {
  readonly problem: WaypostError
  readonly members: Readonly<Record<string, unknown>>

  constructor(problem: WaypostError, members: Readonly<Record<string, unknown>>) {
    super(problem.message)
    this.problem = problem
    this.members = members
  }
}
