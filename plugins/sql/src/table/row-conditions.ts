import type { DatabaseKind } from 'waypost'
import type { OwnerPlan, ReferencePlan, RowRule, Source, TablePlan } from './plan.ts'
import { quote, quoteTable, type Input, type StatementValues } from './statement-values.ts'
import { bindList } from './bind-list.ts'

/** Those scopes of a caller, in alphabetical order, that give access to the rows of all users. */
export type Access = readonly string[]

/** Whether a caller only has access to rows of their own. */
export function isOwned({ unless }: OwnerPlan, access: Access): boolean {
  return unless === undefined || !access.includes(unless)
}

/** Which row a statement is about. */
export interface RowCondition {
  readonly access: Access
  /** How many versions If-Match allows; undefined for all. */
  readonly versions?: 'one' | 'several' | undefined
}

/** Which row a statement changes, and what it writes. */
export interface ChangeCondition extends RowCondition {
  /** The columns that the body has. */
  readonly written: readonly string[]
  /** The references whose rows must exist for the caller. */
  readonly references: readonly ReferencePlan[]
}

/** Which rows of another table exist for a caller. */
type VisibleRows = Pick<RowRule, 'types' | 'where'> & Partial<Pick<RowRule, 'owner'>>

interface OwnedUse {
  readonly access: Access
  readonly isList?: boolean
}

interface ReferenceUse {
  readonly written: readonly string[]
  readonly access: Access
  /** The row does not exist yet. */
  readonly isNew?: boolean
}

/** Writes which rows of a table a caller has access to. */
export class RowConditions {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues

  constructor(plan: TablePlan, kind: DatabaseKind, values: StatementValues) {
    this.#plan = plan
    this.#kind = kind
    this.#values = values
  }

  /** The conditions of the plan, for any of its rows. */
  of(access: Access, isList = false): string[] {
    const { where, owner, references = [] } = this.#plan
    const conditions = Object.entries(where).map(([name, source]) => {
      const column = `${quote(this.#plan.table)}.${quote(name)}`
      return isNull(source)
        ? `${column} is null`
        : `${this.#values.compared(name, undefined, column)} = ${this.#values.bindSource(name, source)}`
    })
    const parents = references.filter(({ inPath }) => inPath)
    conditions.push(...parents.map((one) => this.reference(one, { written: [], access })))
    // The condition for the row that the path names says the same.
    const isKnown = parents.some(({ columns }) => columns.length === 1 && columns[0] === owner?.column)
    if (owner !== undefined && !isKnown)
      conditions.push(...this.#owned(`${quote(this.#plan.table)}.${quote(owner.column)}`, owner, { access, isList }))
    return conditions
  }

  /** The condition for the row that the path names. */
  row({ access, versions }: RowCondition, more: readonly (() => string)[] = []): string {
    const conditions = this.#plan.key.map(
      (name) => `${this.#values.compared(name)} = ${this.#values.bindSource(name, { from: 'params', name })}`,
    )
    conditions.push(...this.of(access), ...more.map((write) => write()))
    const version = this.#plan.version?.column
    if (version !== undefined && versions === 'one')
      conditions.push(`${quote(version)} = ${this.#values.add((input) => input.versions![0])}`)
    if (version !== undefined && versions === 'several')
      conditions.push(this.inList(version, (input) => input.versions!))
    return joinConditions(conditions)
  }

  /** The condition that a column has one of several values. */
  inList(name: string, read: (input: Input) => readonly unknown[], compared = this.#values.compared(name)): string {
    const parameter = this.#values.add((input) => bindList(read(input), this.#kind))
    return this.#kind === 'sqlite'
      ? `${compared} in (select value from json_each(${parameter}))`
      : `${compared} = any(${parameter})`
  }

  /** The condition that the caller has access to the row that a reference refers to. */
  reference({ columns, to, rule }: ReferencePlan, { written, access, isNew = false }: ReferenceUse): string {
    const alias = this.#values.nextAlias()
    const { table, types } = this.#plan
    const terms = columns.map((name, index) => {
      const other = `${alias}.${quote(to[index]!)}`
      const source = this.#sourceOf(name, isNew)
      if (written.includes(name)) return `${other} = ${this.#values.bindBody(name)}`
      if (source !== undefined) return `${other} = ${this.#values.bindSource(name, source)}`
      if (isNew) return '1 = 0' // the default of the column, which the statement does not know
      const own = `${quote(table)}.${quote(name)}`
      return types[name]?.null ? `(${own} is null or ${other} = ${own})` : `${other} = ${own}`
    })
    const conditions = [...terms, ...this.visible(rule, alias, { access })]
    return `exists (select 1 from ${quoteTable(rule)} as ${alias}${joinConditions(conditions)})`
  }

  /**
   * The condition that a row belongs to the caller. In lists of few of many rows, "exists" reads all of them. For one
   * row, or if the caller has access to all, "in" reads the whole other table on SQLite.
   */
  #owned(name: string, owner: OwnerPlan, { access, isList = false }: OwnedUse): readonly string[] {
    const { parent } = owner
    if (parent === undefined)
      return isOwned(owner, access) ? [`${name} = ${this.#values.addOwn(({ userId }) => userId ?? null)}`] : []
    const { to, rule } = parent
    const alias = this.#values.nextAlias()
    const isChosen = isList && isOwned(owner, access)
    const conditions = this.visible(rule, alias, { access, isList: isChosen })
    if (conditions.length === 0) return []
    const [from, other] = [`${quoteTable(rule)} as ${alias}`, `${alias}.${quote(to)}`]
    return isChosen
      ? [`${name} in (select ${other} from ${from}${joinConditions(conditions)})`]
      : [`exists (select 1 from ${from}${joinConditions([`${other} = ${name}`, ...conditions])})`]
  }

  /** The conditions that the caller has access to a row of another table. */
  visible({ types, where, owner }: VisibleRows, alias: string, use: OwnedUse): readonly string[] {
    const conditions = Object.entries(where).map(([name, source]) => {
      const column = `${alias}.${quote(name)}`
      const compared = this.#values.compared(name, types[name], column)
      return isNull(source)
        ? `${column} is null`
        : `${compared} = ${this.#values.bindSource(name, source, { column: types[name]! })}`
    })
    if (owner === undefined) return conditions
    return [...conditions, ...this.#owned(`${alias}.${quote(owner.column)}`, owner, use)]
  }

  /** Returns where the value of a column comes from that the body does not have. */
  #sourceOf(name: string, isNew: boolean): Source | undefined {
    const { set, where, owner, key } = this.#plan
    if (Object.hasOwn(set, name)) return set[name]
    if (Object.hasOwn(where, name)) return where[name]
    if (owner?.column === name && owner.parent === undefined && (isNew || owner.unless === undefined))
      return { from: 'user' }
    return key.includes(name) ? { from: 'params', name } : undefined
  }
}

function isNull(source: Source): boolean {
  return source.from === 'constant' && source.value === null
}

export function joinConditions(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` where ${conditions.join(' and ')}`
}
