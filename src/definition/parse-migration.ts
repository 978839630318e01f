import { devNull } from 'node:os'
import { isNode, visit } from 'yaml'
import type { SearchSnapshot } from '../contract/index.ts'
import { hasErrors, sha256, type Diagnostic } from '../kit/index.ts'
import { checkDefault, checkTypeParts, type ColumnChange, type ColumnDeclaration, type Step } from '../tables/index.ts'
import { checkStructure, type Shape } from './check-structure.ts'
import { compose } from './compose.ts'
import { createLoadContext, loadSource, makeSourceCache, type LoadContext } from './load-context.ts'
import { migrationLanguage } from './migration-language.ts'
import { describeNode, entriesOf, itemsOf, textOf, textsOf, toValue, valueOf, type Entry, type Node } from './node.ts'
import { locate, makeReport } from './report.ts'
import type { Source, Span } from './source.ts'

/** A declared migration: `migrations/<Connection>/<name>.yml`. */
export interface DeclaredMigration {
  /** In the order in which they run; none if the file is empty or has errors. */
  readonly steps: readonly Step[]
  /** SHA-256 of the value: comments and layout do not count. */
  readonly checksum: string
  readonly diagnostics: readonly Diagnostic[]
  /** Returns the place of a part of a step. */
  locate(step: number, path: readonly string[]): Pick<Diagnostic, 'file' | 'range' | 'source'>
}

/** Parses a declared migration and checks its structure. */
export function parseMigration(file: string, text: string): DeclaredMigration {
  const report = makeReport()
  const texts = new Map([[file, text]])
  const loading = createLoadContext({ folder: nothing, report, cache: makeSourceCache(), changed: undefined, texts })
  const source = loadSource(loading, file, [])
  const placed = 'problem' in source ? reportRefused(source, { file, loading }) : parseContent(source, loading)
  const diagnostics = report.diagnostics([file])
  return {
    steps: hasErrors(diagnostics) ? [] : placed.steps.map(({ step }) => step),
    checksum: sha256(placed.root === undefined ? text : JSON.stringify(toValue(placed.root))),
    diagnostics,
    locate: (step, path) => locate(findSpan(placed.steps[step]!, path)),
  }
}

/** No file exists below a file: nothing can be included. */
const nothing = { root: devNull, realRoot: devNull }

interface PlacedStep {
  readonly step: Step
  /** The key of the table, or an item of its list. */
  readonly at: Span
  readonly value: Node
}

interface Content {
  readonly root: Node | undefined
  readonly steps: readonly PlacedStep[]
}

function reportRefused(
  problem: Exclude<ReturnType<typeof loadSource>, Source>,
  { file, loading }: { readonly file: string; readonly loading: LoadContext },
): Content {
  const reason = problem.problem === 'refused' ? problem.reason : 'it does not exist'
  loading.report.addAt(file, { code: 'WP_DEFINITION_FILE_REFUSED', parameters: { file, reason } })
  return { root: undefined, steps: [] }
}

function parseContent(source: Source, loading: LoadContext): Content {
  const { report } = loading
  const origin = { source, includedAt: [] }
  if (source.content === undefined || reportIncludes(source, loading)) return { root: undefined, steps: [] }
  const root = compose(source.content, { loading, origin, path: new Set() })
  const label = { name: 'A migration', at: root }
  checkStructure(root, migrationLanguage as Shape, { label, checking: { report } })
  for (const { at } of loading.references)
    report.add({
      code: 'WP_DEFINITION_MIGRATION',
      at,
      parameters: { problem: 'Variables are not allowed in a migration' },
    })
  if (report.hasErrors()) return { root, steps: [] }
  const groups = root.kind === 'list' ? root.items : [root]
  reportConcurrently(groups, loading)
  const steps = groups.flatMap((group) => entriesOf(group).flatMap((entry) => readSteps(entry, group)))
  for (const one of steps) {
    reportTypes(one, loading)
    if (!report.hasErrors()) reportDefaults(one, loading)
  }
  return { root, steps }
}

function reportIncludes(source: Source, { report }: LoadContext): boolean {
  let isFound = false
  if (!source.content) return false
  visit(source.content, (_, node) => {
    if (!isNode(node) || node.tag !== '!include') return
    const [start = 0, end = start] = node.range ?? []
    const at = { origin: { source, includedAt: [] }, start, end }
    const parameters = { problem: '!include is not allowed in a migration' }
    report.add({
      code: 'WP_DEFINITION_MIGRATION',
      at,
      parameters,
      hint: 'Its content must not change: write it in this file',
    })
    isFound = true
  })
  return isFound
}

/** Indexes are built concurrently outside a transaction, so other steps cannot be in the same migration. */
function reportConcurrently(groups: readonly Node[], { report }: LoadContext): void {
  const marked = groups.filter((group) => valueOf(group, 'concurrently') !== undefined)
  if (marked.length === 0) return
  const isOther = (key: string) => !['add_index', 'drop_index', 'concurrently'].includes(key)
  for (const group of groups) {
    const found = entriesOf(group).find(({ key }) => isOther(key) || !marked.includes(group))
    if (found === undefined) continue
    const problem = `"${found.key}" cannot be in a migration with "concurrently", which runs outside a transaction`
    report.add({
      code: 'WP_DEFINITION_MIGRATION',
      at: found.keySpan,
      parameters: { problem },
      hint: 'Write two migrations',
    })
  }
}

/** The structure is already checked. */
function readSteps({ key, value }: Entry, group: Node): readonly PlacedStep[] {
  if (key === 'concurrently') return []
  if (key === 'add_index' || key === 'drop_index') {
    const mark = valueOf(group, 'concurrently') === undefined ? {} : ({ concurrently: true } as const)
    return entriesOf(value).flatMap((table) =>
      readTableSteps(key, table).map((one) => ({ ...one, step: { ...one.step, ...mark } as Step })),
    )
  }
  if (key === 'drop_table') {
    return itemsOf(value).map((item) => ({ step: { step: key, table: textOf(item)! }, at: item, value: item }))
  }
  return entriesOf(value).flatMap((table) => readTableSteps(key as Step['step'], table))
}

function readTableSteps(step: Step['step'], { key: table, keySpan, value }: Entry): readonly PlacedStep[] {
  switch (step) {
    case 'create_table':
      return [{ step: { step, table, ...readTable(value) }, at: keySpan, value }]
    case 'add_column':
      return entriesOf(value).map((entry) => ({
        step: { step, table, column: entry.key, as: readColumn(entry.value) },
        at: keySpan,
        value,
      }))
    case 'alter_column':
      return entriesOf(value).map((entry) => ({
        step: { step, table, column: entry.key, change: readChange(entry.value) },
        at: keySpan,
        value,
      }))
    case 'rename_column':
      return entriesOf(value).map((entry) => ({
        step: { step, table, column: entry.key, to: textOf(entry.value)! },
        at: keySpan,
        value,
      }))
    case 'drop_column':
      return itemsOf(value).map((item) => ({ step: { step, table, column: textOf(item)! }, at: item, value: item }))
    case 'add_index':
    case 'drop_index':
      return itemsOf(value).map((item) => ({ step: { step, table, columns: textsOf(item) }, at: item, value: item }))
    case 'add_search':
    case 'drop_search':
      return [{ step: { step, table, ...readSearch(value) }, at: keySpan, value }]
    default:
      return []
  }
}

function readSearch(node: Node): SearchSnapshot {
  const configuration = textOf(valueOf(node, 'configuration'))
  const columns = textsOf(valueOf(node, 'columns') ?? node)
  return { columns, ...(configuration !== undefined && { configuration }) }
}

function readTable(node: Node) {
  const columns = entriesOf(valueOf(node, 'columns')).map(({ key, value }) => [key, readColumn(value)])
  const lists = (name: string) => {
    const value = valueOf(node, name)
    return value && { [name]: itemsOf(value).map(textsOf) }
  }
  const key = valueOf(node, 'key')
  return {
    columns: Object.fromEntries(columns) as Readonly<Record<string, ColumnDeclaration>>,
    ...(key && { key: textsOf(key) }),
    ...lists('unique'),
    ...lists('index'),
  }
}

function readColumn(node: Node): ColumnDeclaration {
  const [type = '', length] = (textOf(node) ?? textOf(valueOf(node, 'type')) ?? '').split(/[()]/)
  const [fallback, references, onDelete] = ['default', 'references', 'on_delete'].map((key) => valueOf(node, key))
  const isTrue = (key: string) => toValue(valueOf(node, key) ?? node) === true
  return {
    type: type as ColumnDeclaration['type'],
    ...(length && { length: Number(length) }),
    ...readTypeParts(node),
    ...(isTrue('null') && { null: true }),
    ...(fallback && { default: toValue(fallback) }),
    ...(isTrue('unique') && { unique: true }),
    ...(references && { references: toValue(references) as NonNullable<ColumnDeclaration['references']> }),
    ...(onDelete && { on_delete: textOf(onDelete) as NonNullable<ColumnDeclaration['on_delete']> }),
  }
}

/** The values of an enum, and the digits of a decimal. */
function readTypeParts(node: Node): Pick<ColumnDeclaration, 'values' | 'precision' | 'scale'> {
  const [precision, scale] = ['precision', 'scale'].map((key) => valueOf(node, key))
  return {
    ...(readLists(node, ['values']) as Pick<ColumnDeclaration, 'values'>),
    ...(precision && { precision: Number(toValue(precision)) }),
    ...(scale && { scale: Number(toValue(scale)) }),
  }
}

function readLists(node: Node, names: readonly ('values' | 'add_values' | 'remove_values')[]): ColumnChange {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = valueOf(node, name)
      return value === undefined ? [] : [[name, textsOf(value)]]
    }),
  )
}

function readChange(node: Node): ColumnChange {
  const [type, length] = textOf(valueOf(node, 'type'))?.split(/[()]/) ?? []
  const [isNullable, fallback] = ['null', 'default'].map((key) => valueOf(node, key))
  return {
    ...(type && { type: type as ColumnDeclaration['type'] }),
    ...(length && { length: Number(length) }),
    ...readTypeParts(node),
    ...readLists(node, ['add_values', 'remove_values']),
    ...(isNullable && { null: toValue(isNullable) === true }),
    ...(fallback && { default: toValue(fallback) }),
  }
}

/** Checks that each column has what its type needs, and nothing that belongs to another type. */
function reportTypes({ step: { step }, value }: PlacedStep, { report }: LoadContext): void {
  if (!['create_table', 'add_column', 'alter_column'].includes(step)) return
  for (const { key, keySpan, value: node } of entriesOf(valueOf(value, 'columns') ?? value)) {
    const column = step === 'alter_column' ? readChange(node) : readColumn(node)
    const found = checkTypeParts(column, step === 'alter_column')
    if (found === undefined) continue
    const { part, problem, hint } = found
    report.add({
      code: 'WP_DEFINITION_MIGRATION',
      at: (part === undefined ? undefined : entriesOf(node).find((entry) => entry.key === part)?.keySpan) ?? keySpan,
      parameters: { problem: `The column "${key}" ${problem}` },
      ...(hint !== undefined && { hint }),
    })
  }
}

/** Checks the defaults of the columns in a step: those of a table, or those that are added. */
function reportDefaults({ step: { step }, value }: PlacedStep, { report }: LoadContext): void {
  for (const column of entriesOf(valueOf(value, 'columns') ?? value)) {
    const given = valueOf(column.value, 'default')
    if (given === undefined) continue
    if (step === 'alter_column' && toValue(given) === null) continue
    if (step === 'alter_column' && valueOf(column.value, 'type') === undefined) {
      const problem = `The new default of "${column.key}" needs the type of the column`
      report.add({ code: 'WP_DEFINITION_MIGRATION', at: given, parameters: { problem }, hint: 'Add "type"' })
      continue
    }
    const expected = checkDefault(readColumn(column.value))
    if (expected === undefined) continue
    const problem = `The default of "${column.key}" must be ${expected}, not ${describeNode(given)}`
    report.add({ code: 'WP_DEFINITION_MIGRATION', at: given, parameters: { problem } })
  }
}

/** Returns the span of the deepest part that the path leads to. */
function findSpan({ at, value }: PlacedStep, path: readonly string[]): Span {
  let span = at
  let node: Node | undefined = value
  for (const key of path) {
    const entry: Entry | undefined = node.kind === 'map' ? node.entries.get(key) : undefined
    if (entry === undefined) break
    span = entry.keySpan
    node = entry.value
  }
  return span
}
