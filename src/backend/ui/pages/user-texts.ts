export const usersTexts = {
  text: 'People and programs that sign in and own clients.',
  add: 'New user',
  create: 'Create user',
  password: 'Password',
  passwordText: 'Leave it empty to generate one, which is shown once.',
  optional: 'Optional',
  created: (name: string) => `Created the user ${name}`,
  empty: 'No users yet',
  emptyText: 'Users sign in, and own the clients that act for them.',
  search: 'Name or email',
  username: 'Username',
} as const
