import { Query, type PoolClient } from 'pg'
import { ListParameter } from './postgres-values.ts'

/** What a query of `pg` uses that its types omit. */
interface Wire {
  readonly parsedStatements: Readonly<Record<string, string>>
  parse(statement: { readonly text: string; readonly name?: string | undefined }): void
  describe(target: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  once(event: 'parameterDescription', listener: ParameterListener): void
  off(event: 'parameterDescription', listener: ParameterListener): void
}

type ParameterListener = (message: { readonly dataTypeIDs: readonly number[] }) => void

interface Statement {
  readonly text: string
  /** Undefined if it is not prepared. */
  readonly name: string | undefined
}

/** Parses a statement without running it, and asks for the types of its parameters. */
class ParameterQuery extends Query {
  readonly #statement: Statement
  readonly #listen: ParameterListener

  constructor(statement: Statement, settle: (error: Error | undefined, types: readonly number[]) => void) {
    let types: readonly number[] = []
    super({ ...statement, values: [] }, ((error: Error | undefined) => settle(error, types)) as never)
    this.#statement = statement
    this.#listen = ({ dataTypeIDs }) => (types = dataTypeIDs)
  }

  requiresPreparation(): boolean {
    return true
  }

  prepare(connection: Wire): void {
    const { text, name } = this.#statement
    connection.once('parameterDescription', this.#listen)
    if (name === undefined || connection.parsedStatements[name] === undefined) connection.parse({ text, name })
    connection.describe({ type: 'S', name: name ?? '' })
    connection.sync()
  }

  handleRowDescription(): void {} // the columns of the result

  handleError(error: Error, connection: Wire): void {
    connection.off('parameterDescription', this.#listen)
    ;(Query.prototype as unknown as { handleError(error: Error, connection: Wire): void }).handleError.call(
      this,
      error,
      connection,
    )
  }
}

/** Object ids of pg_type, so that the usual types need no query: json, jsonb, text, varchar, and arrays of usual types. */
const plainTypes = [114, 3802, 25, 1043]
const arrayTypes = [199, 3807, 1000, 1005, 1007, 1009, 1015, 1016, 1021, 1022, 1115, 1182, 1185, 1231, 2951]

/**
 * Writes lists for the parameters of statements. A list is an array for an array of PostgreSQL, and otherwise JSON. Only
 * PostgreSQL knows which of them a parameter is.
 */
export class ParameterTypes {
  /** Whether a type is an array, by its object id. */
  readonly #isArray = new Map<number, boolean>([
    ...plainTypes.map((id) => [id, false] as const),
    ...arrayTypes.map((id) => [id, true] as const),
  ])
  /** The types of prepared statements, which never change. */
  readonly #prepared = new WeakMap<PoolClient, Map<string, readonly number[]>>()

  /** Returns the values of a statement with its lists written. Costs a round trip unless the statement is prepared. */
  async writeLists(client: PoolClient, statement: Statement, values: readonly unknown[]): Promise<readonly unknown[]> {
    if (!values.some((value) => value instanceof ListParameter)) return values
    const types = await this.#loadTypes(client, statement)
    const used = values.map((value, index) => (value instanceof ListParameter ? types[index]! : 0))
    const unknown = used.filter((id) => id !== 0 && !this.#isArray.has(id))
    if (unknown.length > 0) await this.#loadCategories(client, unknown)
    return values.map((value, index) =>
      value instanceof ListParameter ? value.write(this.#isArray.get(types[index]!) === true) : value,
    )
  }

  async #loadTypes(client: PoolClient, statement: Statement): Promise<readonly number[]> {
    const { name } = statement
    const known = name === undefined ? undefined : this.#prepared.get(client)?.get(name)
    if (known !== undefined) return known
    const types = await new Promise<readonly number[]>((resolve, reject) => {
      client.query(new ParameterQuery(statement, (error, found) => (error ? reject(error) : resolve(found))))
    })
    if (name === undefined) return types
    const ofClient = this.#prepared.get(client) ?? new Map<string, readonly number[]>()
    this.#prepared.set(client, ofClient.set(name, types))
    return types
  }

  /** Types of a project: enums, domains, and arrays of them. */
  async #loadCategories(client: PoolClient, ids: readonly number[]): Promise<void> {
    const text = `select oid::integer as id, typcategory = 'A' as is_array from pg_catalog.pg_type where oid = any($1::oid[])`
    const { rows } = await client.query<{ id: number; is_array: boolean }>(text, [ids])
    for (const { id, is_array: isArray } of rows) this.#isArray.set(id, isArray)
  }
}
