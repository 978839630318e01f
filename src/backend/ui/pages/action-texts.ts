export const actionsTexts = {
  text: 'The code and the classes that methods and cronjobs run.',
  name: 'Action',
  kind: 'Kind',
  kinds: { file: 'Code', named: 'Class', class: 'Class' },
  class: 'Class',
  empty: 'No actions',
  emptyText: 'The actions of methods and cronjobs appear here.',
  title: 'Action',
  config: 'Config',
  code: 'Its code is part of the release.',
  notFound: 'The active release has no action with this name.',
} as const

export const actionTexts = {
  new: 'New action',
  notFound: 'waypost.yml has no action with this name.',
  nameText: 'Methods and cronjobs use the action by this name, such as Todo',
} as const
