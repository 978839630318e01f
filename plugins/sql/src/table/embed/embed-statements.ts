import type { DatabaseKind } from 'waypost'
import { isNullable, writeOrder } from '../list-conditions.ts'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { joinConditions, type Access, type RowConditions } from '../row-conditions.ts'
import { extraPrefix, quote, quoteTable, type StatementValues } from '../statement-values.ts'
import { writeCell } from './embed-cells.ts'
import { isPlain, writePlainRow, writePlainRows } from './plain-rows.ts'

/** Returns the column of a result that has the rows of an embed. */
export function embedAlias(index: number): string {
  return `${extraPrefix}e${index}`
}

interface Parts {
  readonly plan: TablePlan
  readonly kind: DatabaseKind
  readonly values: StatementValues
  readonly rows: RowConditions
}

/** Writes the expressions that read embedded rows as JSON: each row is an array of its values, unless it is plain. */
export class EmbedStatements {
  readonly #plan: TablePlan
  readonly #kind: DatabaseKind
  readonly #values: StatementValues
  readonly #rows: RowConditions

  constructor({ plan, kind, values, rows }: Parts) {
    this.#plan = plan
    this.#kind = kind
    this.#values = values
    this.#rows = rows
  }

  select(embeds: readonly EmbedPlan[], access: Access): readonly string[] {
    return embeds.map((embed) => {
      const written = embed.many === undefined ? this.#one(embed, access) : this.#many(embed, embed.many, access)
      return `${written} as ${quote(embedAlias(this.#plan.embeds!.indexOf(embed)))}`
    })
  }

  #one(embed: EmbedPlan, access: Access): string {
    const alias = this.#values.nextAlias()
    const cells = this.#cells(embed, alias)
    const array = this.#kind === 'postgresql' ? `cast(to_json(array[${cells.join(', ')}]) as text)` : writeArray(cells)
    const row = isPlain(this.#plan, embed, this.#kind) ? writePlainRow(embed, alias) : array
    return `(select ${row} from ${this.#from(embed, { alias, access })} limit 1)`
  }

  /** One row more than the limit shows that there are more. */
  #many(embed: EmbedPlan, { sort, limit, bytes }: NonNullable<EmbedPlan['many']>, access: Access): string {
    const alias = this.#values.nextAlias()
    const cells = this.#cells(embed, alias)
    const order = sort.map(({ column, descending }) => {
      const type = embed.types[column]!
      const compared = this.#values.compared(column, type, `${alias}.${quote(column)}`)
      return writeOrder(compared, { descending, isNullable: isNullable(type), kind: this.#kind })
    })
    const end = `${this.#from(embed, { alias, access })} order by ${order.join(', ')} limit ${limit + 1}`
    if (isPlain(this.#plan, embed, this.#kind))
      return `(select ${writePlainRows(`select ${writePlainRow(embed, alias)} from ${end}`)})`
    const names = cells.map((_, index) => quote(String(index)))
    const inner = `select ${cells.map((cell, index) => `${cell} as ${names[index]}`).join(', ')} from ${end}`
    if (bytes !== undefined) return this.#list(limitRows(names, bytes), writeSizes(names, inner, this.#kind))
    if (this.#kind === 'sqlite') return this.#list(names, inner)
    return `(select cast(to_json(array(select array[${cells.join(', ')}] from ${end})) as text))`
  }

  #list(cells: readonly string[], from: string): string {
    return this.#kind === 'postgresql'
      ? `(select cast(to_json(array(select array[${cells.join(', ')}] from (${from}) as ${sized})) as text))`
      : `(select json_group_array(${writeArray(cells)}) from (${from}))`
  }

  #cells({ columns, types }: EmbedPlan, alias: string): readonly string[] {
    const options = { kind: this.#kind, jsonAsText: this.#plan.jsonAsText === true }
    return columns.map((name) => writeCell(types[name]!, `${alias}.${quote(name)}`, options))
  }

  #from(embed: EmbedPlan, { alias, access }: { readonly alias: string; readonly access: Access }): string {
    const { own, other } = embed
    const same = `${alias}.${quote(other)} = ${quote(this.#plan.table)}.${quote(own)}`
    return `${quoteTable(embed)} as ${alias}${joinConditions([same, ...this.#rows.visible(embed, alias, { access })])}`
  }
}

const sized = quote(`${extraPrefix}sized`)
const before = quote(`${extraPrefix}before`)

/** Adds to each row how large those before it are together. */
function writeSizes(names: readonly string[], rows: string, kind: DatabaseKind): string {
  const length = kind === 'postgresql' ? 'octet_length' : 'length'
  const size = names.map((name) => `coalesce(${length}(${name}), 0)`).join(' + ')
  return `select *, sum(${size}) over (rows between unbounded preceding and 1 preceding) as ${before} from (${rows}) as ${sized}`
}

/** Leaves out the values of rows beyond a size. The last value marks such a row. */
function limitRows(names: readonly string[], bytes: number): readonly string[] {
  const fits = `coalesce(${before}, 0) < ${bytes}`
  return [...names.map((name) => `case when ${fits} then ${name} end`), `case when not (${fits}) then 'cut' end`]
}

/** Functions of SQLite before 3.48 have at most 127 arguments. */
const maxArguments = 100

/** Writes an array, with arrays of values in it if there are many; see `readCells`. */
function writeArray(cells: readonly string[]): string {
  if (cells.length <= maxArguments) return `json_array(${cells.join(', ')})`
  const parts: string[] = []
  for (let at = 0; at < cells.length; at += maxArguments)
    parts.push(`json_array(${cells.slice(at, at + maxArguments).join(', ')})`)
  return `json_array(${parts.join(', ')})`
}

/** Returns the values of a row that `writeArray` or PostgreSQL wrote. */
export function readCells<Cell>(row: readonly Cell[] | readonly (readonly Cell[])[]): readonly Cell[] {
  return Array.isArray(row[0]) ? (row as readonly (readonly Cell[])[]).flat() : (row as readonly Cell[])
}
