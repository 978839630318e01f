import { clock, countOf, numbers } from '../components/format.ts'

export const marksTexts = {
  added: 'new',
  changed: 'changed',
  removed: 'removed',
} as const

export const changesTexts = {
  title: 'Changes',
  selected: (selected: number, all: number) =>
    selected === all
      ? `${all === 1 ? '' : 'All '}${countOf(all, 'change')}`
      : `${numbers.format(selected)} of ${countOf(all, 'change')}`,
  all: 'Select all changes',
  select: (name: string) => `Publish ${name}`,
  unknown: 'unknown',
  review: 'Review',
  discard: 'Discard',
  discardOf: (name: string) => `Discard the change to ${name}`,
  discardAll: 'Discard all',
  discardTitle: (name: string) => `Discard the change to ${name}?`,
  discardText: 'The draft then matches the active release here. You cannot undo this.',
  discardAllTitle: (changes: number) => `Discard ${changes === 0 ? 'all changes' : countOf(changes, 'change')}?`,
  discardAllText: (others: readonly string[]) =>
    others.length === 0
      ? 'The draft then matches the active release. You cannot undo this.'
      : `This includes changes by ${others.join(', ')}. The draft then matches the active release. You cannot undo this.`,
  discardAllAction: (changes: number) => `Discard ${changes === 0 ? 'all changes' : countOf(changes, 'change')}`,
  discarded: 'Discarded',
  kept: (name: string, reason: string) => `${name} is kept: ${reason}`,
  methods: 'all methods',
  tables: (connection: string) => `Columns of ${connection}`,
  groups: {
    routes: 'Routes',
    schema: 'Schemas',
    action: 'Actions',
    migrations: 'Migrations',
    event: 'Events',
    cronjob: 'Cronjobs',
    connection: 'Connections',
    scope: 'Scopes',
    settings: 'Settings',
    files: 'Files',
  },
} as const

export const planTexts = {
  title: 'What publishing does',
  none: 'Select at least one change.',
  working: 'Checking the draft',
  breaking: (changes: number) => `${countOf(changes, 'change')} that can break clients`,
  other: 'Other changes',
  nothing: 'Clients see no difference.',
  migrations: 'Migrations',
  migrationsFirst: 'They run before the release is activated.',
  migrationsText: 'They run before the release is activated. The release that is served now must work with them.',
  sqlOf: (name: string) => `SQL of ${name}`,
  code: 'It is written in TypeScript.',
  dropped: (names: readonly string[]) =>
    `${names.join(', ')} ${names.length === 1 ? 'has' : 'have'} already run but ${names.length === 1 ? 'is' : 'are'} missing from the draft. Discard ${names.length === 1 ? 'this change' : 'these changes'}.`,
  calls: (calls: number) =>
    calls === 0 ? 'Not called in the last 24 hours' : `Called ${countOf(calls, 'time')} in the last 24 hours`,
  loss: (text: string) => `Lost: ${text}`,
  variables: 'Missing variables',
  variablesText: 'Set a value for each of them before you publish.',
  usedBy: (uses: readonly string[]) => (uses.length === 0 ? '' : `Used by ${uses.join(', ')}`),
  lackingOn: (servers: readonly string[]) => `Not set on ${servers.join(', ')}`,
  value: (name: string) => `Value of ${name}`,
  set: 'Set',
  valueSet: (name: string) => `${name} is set with the release`,
  newUses: 'New uses of variables',
  newUse: (name: string, uses: readonly string[]) => `${name} is also used by ${uses.join(', ')}`,
  staged: 'Values that go live with the changes that use them',
  stagedBy: (by: string) => `set by ${by}`,
  unheld: (scope: string) => `No user has the scope ${scope}`,
  grant: 'Give it to me',
  grantOf: (scope: string) => `Give me the scope ${scope}`,
  older: (name: string, version: string) =>
    `${name} runs an older version of Waypost, ${version}. Update it before you publish.`,
  warnings: (warnings: number) => countOf(warnings, 'warning'),
  access: (warnings: number) => `${countOf(warnings, 'new warning')} about who can read or change data`,
  accept: 'I have read the warnings',
  problems: (errors: number) => `${countOf(errors, 'error')} in the draft`,
  problemsText: 'Fix these before you publish.',
  message: 'Message',
  messagePlaceholder: 'What changes, and why',
  publish: 'Publish',
  migrate: 'Migrate and publish',
  breakingAction: (changes: number) => `Publish ${countOf(changes, 'breaking change')}`,
  confirmTitle: (changes: number) => `Publish ${countOf(changes, 'breaking change')}?`,
  migrateTitle: 'Publish and run the migrations?',
  confirmText: 'Clients that rely on them stop working when the release is activated:',
  noScope: 'Publishing needs the scope backend.deploy. Ask an administrator to publish.',
  others: (names: readonly string[]) => `Includes changes by ${names.join(', ')}.`,
} as const

export const openTexts = {
  action: 'Open as draft',
  title: (name: string) => `Open ${name} as draft?`,
  text: 'Its files become changes of the draft. Nothing is served until you publish.',
  blocked: 'The draft has changes. Publish or discard them first.',
  noFiles: 'No definition files are stored for this release.',
  done: (name: string) => `${name} is open as draft`,
} as const

export const publishTexts = {
  page: 'Publish',
  bar: (changes: number) => `${countOf(changes, 'change')} · Publish`,
  noChanges: 'No changes',
  text: (release: string) => `Compared with release ${release}, which is active.`,
  textEmpty: 'Nothing has been published yet.',
  noDraft: 'No draft here',
  noDraftText: 'In waypost dev, changed files of the project are served immediately. The page Changes shows them.',
  readOnlyText: 'Drafts and publishing are disabled on this server.',
  draft: 'Draft',
  servedLater: '. They are served when you publish.',
  begin: 'First steps',
  noRoutes: 'Create a table and routes for it, import files, or add a route.',
  noReleases: 'The draft has changes. Publish it to make a release.',
  testLater: 'Publish it to test it.',
  savedAt: (at: Date) => `Saved in the draft ${clock.format(at)}`,
  inDraft: 'In the draft',
  listsActive: 'Until its errors are fixed, lists show the active release.',
  broken: 'The draft cannot be published until this is fixed.',
  shownActive: 'The active release is shown, read-only.',
} as const
