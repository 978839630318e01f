export const releasesTexts = {
  text: 'What was deployed or published, the most recently activated first.',
  release: 'Release',
  state: 'State',
  active: 'active',
  message: 'Message',
  search: 'ID, message or user',
  how: 'How',
  deploy: 'Deployment',
  rollback: 'Rollback',
  backend: 'Backend',
  by: 'By',
  at: 'Activated',
  rollBackTo: (id: string) => `Roll back to ${id}`,
  activateAgain: (id: string) => `Activate ${id} again`,
} as const

export const rollBackTexts = {
  title: (id: string) => `Roll back to ${id}?`,
  titleAgain: (id: string) => `Activate ${id} again?`,
  blocked: 'Not possible:',
  text: 'All servers serve this release within seconds. Migrations are not reverted, and rows are kept.',
  done: (id: string) => `Rolled back to ${id}`,
  doneAgain: (id: string) => `Activated ${id} again`,
  notSetOn: (name: string, servers: readonly string[]) => `The variable ${name} is not set on ${servers.join(', ')}.`,
  allowMissing: 'Set the variables afterwards. Until then, these servers keep serving the current release.',
  unknownMigration: (name: string) => `The migration ${name} has run since, and no stored release contains it.`,
  unreachable: (name: string) => `The connection ${name} cannot be opened to read its migrations.`,
} as const
