import { checkDefault } from './check-default.ts'
import { checkTypeParts } from './check-type.ts'
import type { DesignedColumn, DesignProblem, TableDesign } from './design.ts'
import { findSame, isSameList } from './step-context.ts'
import type { ColumnDeclaration } from './steps.ts'

const namePattern = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]{0,62}$/

/** Types that no step can give a column: a table of another program has them. */
const foreignTypes: ReadonlySet<unknown> = new Set(['array', 'bytes', 'literal', 'other'])

function isDeclarable({ type }: DesignedColumn): boolean {
  return !foreignTypes.has(type)
}

/** Checks what the steps cannot tell: they have each column once, under its name. */
export function checkDesign({ name, columns }: TableDesign): readonly DesignProblem[] {
  const hint = 'Use up to 63 letters, digits and _ and begin with a letter or _'
  const checkName = (value: string, pointer: string): DesignProblem[] =>
    namePattern.test(value)
      ? []
      : [{ pointer, message: value === '' ? 'Enter a name' : `"${value}" is not a valid name`, hint }]
  return [
    ...checkName(name, '/name'),
    ...(columns.length === 0 ? [{ pointer: '/columns', message: 'A table needs a column' }] : []),
    ...columns.flatMap((column, index): readonly DesignProblem[] => {
      const at = `/columns/${index}`
      const same = findSame(
        column.name,
        columns.slice(0, index).map((one) => one.name),
      )
      const expected =
        column.default === undefined || !isDeclarable(column) ? undefined : checkDefault(column as ColumnDeclaration)
      const wrong = !isDeclarable(column) ? undefined : checkTypeParts(column as ColumnDeclaration)
      return [
        ...checkName(column.name, `${at}/name`),
        ...(wrong === undefined
          ? []
          : [{ pointer: `${at}/${wrong.part ?? 'type'}`, message: `The column ${wrong.problem}`, hint: wrong.hint }]),
        ...(same === undefined || same === ''
          ? []
          : [{ pointer: `${at}/name`, message: `Duplicate column "${same}"` }]),
        ...(expected === undefined ? [] : [{ pointer: `${at}/default`, message: `The default must be ${expected}` }]),
        ...(!isDeclarable(column) && column.was === undefined
          ? [{ pointer: `${at}/type`, message: 'Choose a type' }]
          : []),
      ]
    }),
  ]
}

const instead = 'Add another column, copy the values in a TypeScript migration, and drop this one'

/** What no step changes, and what to do instead. */
const fixedParts = [
  [
    'unique',
    'A migration step cannot change whether an existing column is unique',
    'Create or drop a unique index in a TypeScript migration',
  ],
  [
    'references',
    'A migration step cannot change the reference of an existing column, because SQLite does not support it',
    instead,
  ],
  ['on_delete', 'A migration step cannot change what happens to the row, because SQLite does not support it', instead],
] as const

/** No step changes the constraints or the key of a table that exists. */
export function checkChanges(before: TableDesign, after: TableDesign): readonly DesignProblem[] {
  const problems: DesignProblem[] = []
  const kept = new Map<string, string>()
  for (const [index, column] of after.columns.entries()) {
    if (column.was === undefined) continue
    const old = before.columns.find(({ name }) => name === column.was)
    const pointer = `/columns/${index}`
    if (old === undefined || kept.has(column.was)) problems.push({ pointer, message: `Unknown column "${column.was}"` })
    else
      for (const [part, message, way] of fixedParts)
        if (JSON.stringify(column[part]) !== JSON.stringify(old[part]))
          problems.push({ pointer: `${pointer}/${part}`, message, hint: way })
    kept.set(column.was, column.name)
  }
  const renameAll = (lists: TableDesign['unique']) => lists.map((list) => list.map((name) => kept.get(name) ?? name))
  const sorted = (lists: TableDesign['unique']) => JSON.stringify(lists.map((list) => JSON.stringify(list)).toSorted())
  const remaining = before.unique.filter((list) => list.every((name) => kept.has(name)))
  if (sorted(renameAll(remaining)) !== sorted(after.unique))
    problems.push({
      pointer: '/unique',
      message: 'A migration step cannot change the unique columns of an existing table',
      hint: 'Create or drop a unique index in a TypeScript migration',
    })
  if (!isSameList(renameAll([before.key])[0]!, after.key))
    problems.push({
      pointer: '/key',
      message: 'A migration step cannot change the key of an existing table',
      hint: 'Create another table, copy the rows in a TypeScript migration, and drop this one',
    })
  if (before.name !== after.name)
    problems.push({
      pointer: '/name',
      message: 'An existing table cannot be renamed',
      hint: 'Write a TypeScript migration',
    })
  return problems
}
