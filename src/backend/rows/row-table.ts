import { sql } from 'kysely'
import type { TableSnapshot } from '../../contract/index.ts'
import { etagOf, isContention, messageOf, parseExact } from '../../kit/index.ts'
import {
  callInTransaction,
  type CallableMethod,
  type ContextSources,
  type MethodCaller,
  type MethodInput,
} from '../../runtime/index.ts'
import { writeAudit, type Actor, type AuditEntry, type System } from '../../store/index.ts'
import { errors } from './errors.ts'
import type { DescribedRows, RowOperation } from './describe-rows.ts'
import { parseColumn } from './exact-json.ts'

/** Who works with rows. */
export interface RowCaller extends MethodCaller {
  readonly actor: Actor
}

/** The values of a row by column. JSON columns are texts, because a browser would round their numbers. */
export type RowValues = Readonly<Record<string, unknown>>

/** A row with a tag that changes with any of its values. */
export interface TaggedRow {
  readonly etag: string
  readonly values: RowValues
}

export interface RowPage {
  readonly entry: readonly TaggedRow[]
  readonly next: string | null
  /** Only if it was requested. */
  readonly count: number | undefined
}

/** A row to change, and the check that it is as the caller knows it. */
export interface RowSelection {
  /** The values of the key as texts, in the order of its columns. */
  readonly key: readonly string[]
  /** @throws if the row is not as the caller knows it */
  check(current: TaggedRow): void
}

/** A method, or why there is none. */
export type RowMethod = CallableMethod | { readonly problem: string }

export interface RowTableOptions extends Omit<DescribedRows, 'methods' | 'describeImport'> {
  readonly system: System
  readonly sources: ContextSources
  readonly connection: string
  readonly name: string
  readonly kind: 'sqlite' | 'postgresql'
  readonly methods: Readonly<Record<RowOperation, RowMethod>>
  /** Makes the method that inserts lists of rows, and changes those with the same values in some columns. */
  makeImport(upsert: readonly string[]): Promise<RowMethod>
  /** The columns without which a row cannot be inserted. */
  readonly required: readonly string[]
}

const maxAttempts = 3

/** The rows of a table, as the methods of the class `sql-table` serve them. Changes are audited in their transaction. */
export class RowTable {
  readonly options: RowTableOptions
  readonly #json: ReadonlySet<string>

  constructor(options: RowTableOptions) {
    this.options = options
    const { columns } = options.table
    this.#json = new Set(options.columns.filter((name) => columns[name]!.type === 'json'))
  }

  get table(): TableSnapshot {
    return this.options.table
  }

  /** @param query of a list of `sql-table`: filters, `sort`, `limit`, `after` and `count` */
  async list(query: NonNullable<MethodInput['query']>, caller: RowCaller): Promise<RowPage> {
    const text = await this.#method('list').call({ query }, caller)
    const { entry, next, count } = this.#parse(text!) as {
      readonly entry: readonly RowValues[]
      readonly next: string | null
      readonly count?: number
    }
    return { entry: entry.map((row) => this.#tag(row)), next, count }
  }

  async insert(values: RowValues, caller: RowCaller): Promise<TaggedRow> {
    const method = this.#method('insert')
    return this.transaction(caller, async (audit, client) => {
      const text = await method.call({ body: this.toBody(values) }, caller)
      await this.advanceIds(client, Object.keys(values))
      const row = this.#tag(this.#parse(text!) as RowValues)
      await audit('row.add', { key: this.keyOf(row), columns: Object.keys(values) })
      return row
    })
  }

  async change(selected: RowSelection, values: RowValues, caller: RowCaller): Promise<TaggedRow> {
    const method = this.#method('change')
    return this.transaction(caller, async (audit) => {
      await this.#checkRow(selected, caller)
      const input = { params: this.#paramsOf(selected.key), body: this.toBody(values) }
      const row = this.#tag(this.#parse((await method.call(input, caller))!) as RowValues)
      await audit('row.change', { key: this.keyOf(row), columns: Object.keys(values) })
      return row
    })
  }

  async delete(selected: RowSelection, caller: RowCaller): Promise<void> {
    const method = this.#method('delete')
    await this.transaction(caller, async (audit) => {
      await this.#checkRow(selected, caller)
      await method.call({ params: this.#paramsOf(selected.key) }, caller)
      await audit('row.delete', { key: selected.key })
    })
  }

  /**
   * Runs work in one transaction of the connection. On PostgreSQL, it fails if another transaction changes a row that it
   * has read; then it runs again.
   * @param work writes the audit row of what it does
   */
  async transaction<Value>(
    caller: RowCaller,
    work: (audit: WriteRowAudit, client: unknown) => Promise<Value>,
    attempts = maxAttempts,
  ): Promise<Value> {
    const { sources, connection, kind, system } = this.options
    try {
      return await callInTransaction(sources, connection, {
        caller,
        work: async (client) => {
          if (kind === 'postgresql') await isolate(client)
          const place = connection === 'System' ? { ...system, db: client as System['db'] } : system
          return work((action, facts) => writeAudit(place, caller.actor, this.#describe(action, facts)), client)
        },
      })
    } catch (error) {
      if (attempts > 1 && (isContention(error) || isContention((error as Error).cause)))
        return this.transaction(caller, work, attempts - 1)
      throw error
    }
  }

  /**
   * Lets ids continue after those that were inserted explicitly: PostgreSQL would give them to new rows, which would then
   * be refused.
   */
  async advanceIds(client: unknown, written: readonly string[]): Promise<void> {
    const { kind, name, table } = this.options
    const id = written.find((column) => table.columns[column]?.type === 'id')
    if (kind === 'postgresql' && id !== undefined) await advanceId(client as System['db'], name, id)
  }

  /** Writes an audit row of something that changes no row. */
  async audit(caller: RowCaller, ...[action, facts]: Parameters<WriteRowAudit>): Promise<void> {
    await writeAudit(this.options.system, caller.actor, this.#describe(action, facts))
  }

  /** Returns what does not match the types of the columns. */
  checkBody(body: RowValues) {
    return this.#method('insert').checkBody(body)
  }

  /** Returns the method that inserts lists of rows. @throws WP_BACKEND_ROWS_FIXED */
  async importMethod(upsert: readonly string[]): Promise<CallableMethod> {
    return this.#assertMethod(await this.options.makeImport(upsert))
  }

  #method(operation: RowOperation): CallableMethod {
    return this.#assertMethod(this.options.methods[operation])
  }

  /** @throws WP_BACKEND_ROWS_FIXED */
  #assertMethod(method: RowMethod): CallableMethod {
    if (!('problem' in method)) return method
    throw errors.WP_BACKEND_ROWS_FIXED({ table: this.options.name, problem: method.problem })
  }

  /** Converts values of the pages to a body: the texts of JSON columns are parsed. @throws WP_BACKEND_ROW_JSON */
  toBody(values: RowValues): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => {
        if (!this.#json.has(name) || typeof value !== 'string') return [name, value]
        try {
          return [name, parseColumn(value)]
        } catch (error) {
          throw errors.WP_BACKEND_ROW_JSON({ column: name, problem: messageOf(error) })
        }
      }),
    )
  }

  keyOf({ values }: TaggedRow): readonly string[] {
    return this.options.key.map((name) => String(values[name]))
  }

  async #checkRow({ key, check }: RowSelection, caller: RowCaller): Promise<void> {
    const text = await this.#method('read').call({ params: this.#paramsOf(key) }, caller)
    check(this.#tag(this.#parse(text!) as RowValues))
  }

  #paramsOf(values: readonly string[]): Readonly<Record<string, string>> {
    const { key, name } = this.options
    if (values.length !== key.length) throw errors.WP_BACKEND_ROW_KEY({ table: name, key: key.join(', ') })
    return Object.fromEntries(key.map((column, index) => [column, values[index]!]))
  }

  #parse(text: string): unknown {
    return this.#json.size === 0 ? JSON.parse(text) : parseExact(text)
  }

  #tag(row: RowValues): TaggedRow {
    const values =
      this.#json.size === 0
        ? row
        : Object.fromEntries(
            Object.entries(row).map(([name, value]) =>
              this.#json.has(name) && value !== null ? [name, JSON.stringify(value)] : [name, value],
            ),
          )
    return { etag: etagOf(JSON.stringify(values)), values }
  }

  #describe(action: RowAction, { key, columns, rows }: RowFacts): AuditEntry {
    const { connection, name } = this.options
    return {
      action,
      subject: { name: `${connection}.${name}`, ...(key !== undefined && { id: key.join(', ') }) },
      after: { columns, rows },
    }
  }
}

type RowAction = 'row.add' | 'row.change' | 'row.delete' | 'row.export' | 'row.import'

/** What an audit row tells: never values of other columns than the key. */
interface RowFacts {
  readonly key?: readonly string[]
  readonly columns?: readonly string[]
  readonly rows?: number
}

export type WriteRowAudit = (action: RowAction, facts: RowFacts) => Promise<void>

/** Makes a change fail if another transaction has changed the row since it was read. */
async function isolate(client: unknown): Promise<void> {
  await sql`set transaction isolation level repeatable read`.execute(client as System['db'])
}

/** Does nothing if the role of the connection may not use the sequence. */
async function advanceId(db: System['db'], table: string, id: string): Promise<void> {
  const name = sql.id(...table.split('.'))
  const sequence = sql`cast(pg_get_serial_sequence(${quoteAll(table)}, ${id}) as regclass)`
  await sql`savepoint waypost_ids`.execute(db)
  try {
    // Without need, it would take the sequence back behind ids that others have got meanwhile.
    await sql`select setval(${sequence}, last) from (select max(${sql.id(id)}) as last from ${name}) as own
      where last > nextval(${sequence})`.execute(db)
  } catch {
    await sql`rollback to savepoint waypost_ids`.execute(db)
  }
  await sql`release savepoint waypost_ids`.execute(db)
}

function quoteAll(table: string): string {
  return table
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')
}
