export const scopeListTexts = {
  text: 'What tokens can be allowed to do, and who has each scope.',
  description: 'Description',
  routes: 'Methods',
  events: 'Events',
  users: 'Users',
  clients: 'Clients',
  unused: 'unused',
  search: 'Name or description',
  problem: 'The routes of some plugins are not counted:',
} as const

export const scopeTexts = {
  new: 'New scope',
  notFound: 'waypost.yml does not declare this scope.',
  nameText: 'Such as todo or todo.write',
  renameText: 'Users, clients and tokens keep the old name. Grant the new one to them.',
  deleteText: 'Nothing requires it. Users, clients and tokens that have it keep the name.',
  requiredBy: 'Required by',
  grantedTo: 'Granted to',
  declare: 'Declare',
  readOnly: 'Scopes are declared in waypost.yml. They are edited in waypost dev, or in the draft of a server.',
} as const
