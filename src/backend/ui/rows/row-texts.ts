import { countOf, numbers } from '../components/format.ts'

export const rowTexts = {
  structure: 'Structure',
  add: 'Add row',
  import: 'Import',
  export: 'Export CSV',
  null: 'null',
  emptyText: 'empty',
  open: (key: string) => `Open row ${key}`,
  none: 'No rows',
  noneText: 'Add the first row, or import a CSV file whose first line has the names of the columns.',
  noneFixed: 'The database has no rows here.',
  fixed: (problem: string) => `Rows can only be read. ${problem}.`,
  hidden: (names: readonly string[]) => `Not shown, because their types are not supported: ${names.join(', ')}.`,
  internal: (name: string) =>
    `The table has no key. Rows are found by ${name}, the place where the database stores them, which can change.`,
  count: 'Count rows',
  counted: (count: number) => countOf(count, 'row'),
  reference: (table: string) => `Open the row in ${table}`,
  off: 'Rows are not shown on this server',
} as const

export const filterTexts = {
  add: 'Filter',
  column: 'Column',
  operator: 'Condition',
  value: 'Value',
  apply: 'Apply filter',
  operators: {
    eq: 'is',
    not: 'is not',
    contains: 'contains',
    gt: '>',
    gte: '≥',
    lt: '<',
    lte: '≤',
    null: 'is null',
  } as Readonly<Record<string, string>>,
  search: 'Search',
  searchIn: (columns: readonly string[]) => `Words in ${columns.join(', ')}`,
  words: (value: string) => `words: ${value}`,
  isNull: 'is null',
  isNotNull: 'is not null',
  yes: 'Yes',
  no: 'No',
} as const

export const panelTexts = {
  new: 'New row',
  title: (key: string) => `Row ${key}`,
  addAction: 'Add row',
  save: 'Save changes',
  delete: 'Delete row',
  deleteTitle: (key: string) => `Delete row ${key}?`,
  deleteText: 'You can undo this until you leave the page.',
  deleteChildren: (tables: readonly string[]) =>
    `Rows of ${tables.join(', ')} that refer to it are deleted or lose their reference. Undo does not bring them back.`,
  setNull: 'null',
  setDefault: 'default',
  toNull: (name: string) => `Set ${name} to null`,
  toDefault: (name: string) => `Leave ${name} to the database`,
  byDefault: 'set by the database',
  now: 'Now',
  generate: 'Generate',
  formatJson: 'Format',
  required: 'is required',
  notJson: 'is not valid JSON',
  conflict:
    'Someone else has changed this row. Fields that you did not edit show the current values. Save again to replace the others.',
  utc: 'UTC',
  characters: (length: number, max: number) => `${numbers.format(length)} of ${numbers.format(max)} characters`,
  refers: 'Rows that refer to this one',
} as const

export const undoTexts = {
  change: (key: string, columns: readonly string[]) => `Changed ${columns.join(', ')} of row ${key}`,
  add: (key: string) => `Added row ${key}`,
  delete: (key: string) => `Deleted row ${key}`,
  undo: 'Undo',
  undone: 'Undone',
  lost: 'The row has been changed in the meantime, so it was not reverted.',
  dismiss: 'Dismiss',
} as const

export const importTexts = {
  title: (table: string) => `Import into ${table}`,
  file: 'CSV file',
  choose: 'Choose a file',
  hint: 'UTF-8, with commas, semicolons or tabs. The first line names the columns; at most 100,000 lines.',
  existing: 'Existing rows',
  addOnly: 'Refuse the file: every row must be new',
  change: (columns: readonly string[]) => `Change the row with the same ${columns.join(' and ')}`,
  skip: 'Ignore columns that the table does not have',
  start: 'Import',
  sending: 'Sending the file',
  checking: (rows: number) => `Checking: ${countOf(rows, 'row')}`,
  importing: (rows: number, of: number) => `Importing: ${numbers.format(rows)} of ${countOf(of, 'row')}`,
  done: (rows: number) => `${countOf(rows, 'row')} imported`,
  nothing: 'Nothing was imported',
  problems: (count: number) =>
    count < 100
      ? `Nothing was imported. Correct ${countOf(count, 'value')} and import the file again.`
      : 'Nothing was imported. These are the first problems.',
  line: 'Line',
  column: 'Column',
  reason: 'Reason',
  whole: 'whole line',
  again: 'Import again',
  close: 'Close',
} as const
