import { clock, countOf, numbers } from '../components/format.ts'

export const changedByTexts = {
  folder: 'Changed in the folder',
  me: 'You changed this in another window',
  user: (name: string) => `${name} changed this`,
  unknown: 'This was changed since you started.',
} as const

export const warningsTexts = {
  title: (warnings: number) => countOf(warnings, 'warning'),
  saved: (warnings: number) => `This change causes ${countOf(warnings, 'warning')}`,
  all: (warnings: number) => `Show all ${numbers.format(warnings)}`,
} as const

export const filesTexts = {
  title: 'File',
  project: 'Project files',
  changed: (files: number) => `${countOf(files, 'file')} changed`,
  folder: 'You edit files in',
  atOnce: '; saves are served immediately.',
  errors: (errors: number) => countOf(errors, 'error'),
  showError: (label: string, place: string) => `${label} in the definition. Show ${place}`,
  moreErrors: (errors: number) => `and ${countOf(errors, 'more error')}`,
  notServed: 'These files are not served.',
  lastGood: 'The last valid version is served and shown here, read-only.',
  open: 'Open in VS Code',
} as const

export const variableTexts = {
  title: 'New variable',
  name: 'Name',
  nameHint: 'Capital letters, digits and _, such as SHOP_TOKEN',
  value: 'Value',
  valueHint: 'Written to the file .env of the project, which is not in git. It is not shown again.',
  stagedHint: 'Stored encrypted with the draft, and set when you publish. It is not shown again.',
  add: 'Add variable',
} as const

export const editingTexts = {
  bar: 'Save',
  save: 'Save',
  saved: 'Saved',
  again: 'Try again',
  discard: 'Discard',
  saveAnyway: 'Save anyway',
  unsaved: (changes: number) => (changes === 1 ? 'Unsaved change' : `${numbers.format(changes)} unsaved changes`),
  savedAt: (at: Date, changes: number) => `Saved ${clock.format(at)} · ${countOf(changes, 'change')}`,
  fieldsOf: (fields: readonly string[], name: string) =>
    fields.length === 0
      ? name
      : `${fields.length > 2 ? countOf(fields.length, 'field') : fields.join(' and ')} of ${name}`,
  noUndo: 'Cannot be undone: rows could be lost',
  undoOf: (names: readonly string[]) =>
    `Undo: ${names.slice(0, 2).join(', ')}${names.length > 2 ? ` and ${names.length - 2} more` : ''}`,
  undone: 'Undone',
  compare: 'Compare',
  outdated: 'Compare before you save. Nothing that you typed is lost.',
  refused: (errors: number) => `Not saved: ${errors === 1 ? 'this error' : `these ${errors} errors`} would be new`,
  diffOf: (file: string) => `Differences of ${file}`,
} as const
