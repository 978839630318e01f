import { countOf } from '../components/format.ts'

export const renameTexts = {
  open: 'Rename…',
  title: (name: string) => `Rename ${name}`,
  name: 'New name',
  action: 'Rename',
  fromTo: (from: string, to: string) => `${from} → ${to}`,
  done: (from: string, to: string) => `${from} is renamed to ${to}`,
  uses: (uses: number) =>
    uses === 0 ? 'Nothing else refers to it.' : `${countOf(uses, 'reference is', 'references are')} changed too:`,
} as const

export const entryTexts = {
  more: 'More actions',
  add: 'Add',
  continue: 'Continue',
  name: 'Name',
  description: 'Description',
  taken: (name: string) => `"${name}" already exists`,
  invalid: {
    routes: 'A path begins with /',
    event: 'Begin with a letter or a digit, but not with "waypost."',
    scope: 'Spaces, commas, quotes and backslashes are not allowed',
    other: 'Begin with a letter or a digit, and use letters, digits and . _ - only',
  },
  delete: (name: string) => `Delete ${name}`,
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleted: (name: string) => `${name} is deleted`,
  unused: 'Nothing refers to it.',
  inUse: 'It is used here. Change these places first.',
  calls: (calls: number) =>
    calls === 0
      ? 'It was not called in the last 24 hours. Calls are counted once a minute.'
      : `It was called ${countOf(calls, 'time')} in the last 24 hours.`,
} as const
