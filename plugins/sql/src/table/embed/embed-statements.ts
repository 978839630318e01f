import type { DatabaseKind } from 'waypost'
import { isNullable, writeOrder } from '../list-conditions.ts'
import type { EmbedPlan, TablePlan } from '../plan.ts'
import { joinConditions, type Access, type RowConditions } from '../row-conditions.ts'
import { extraPrefix, quote, quoteTable, type StatementValues } from '../statement-values.ts'
import { writeCell } from './embed-cells.ts'

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

/** Writes the expressions that read embedded rows as JSON: each row is an array of its values. */
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
    const row = this.#kind === 'postgresql' ? `cast(to_json(array[${cells.join(', ')}]) as text)` : writeArray(cells)
    return `(select ${row} from ${this.#from(embed, { alias, access })} limit 1)`
  }

  /** One row more than the limit shows that there are more. */
  #many(embed: EmbedPlan, { sort, limit }: NonNullable<EmbedPlan['many']>, access: Access): string {
    const alias = this.#values.nextAlias()
    const cells = this.#cells(embed, alias)
    const order = sort.map(({ column, descending }) => {
      const type = embed.types[column]!
      const compared = this.#values.compared(column, type, `${alias}.${quote(column)}`)
      return writeOrder(compared, { descending, isNullable: isNullable(type), kind: this.#kind })
    })
    const end = `${this.#from(embed, { alias, access })} order by ${order.join(', ')} limit ${limit + 1}`
    if (this.#kind === 'postgresql')
      return `(select cast(to_json(array(select array[${cells.join(', ')}] from ${end})) as text))`
    const names = cells.map((_, index) => quote(String(index)))
    const inner = cells.map((cell, index) => `${cell} as ${names[index]}`).join(', ')
    return `(select json_group_array(${writeArray(names)}) from (select ${inner} from ${end}))`
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
