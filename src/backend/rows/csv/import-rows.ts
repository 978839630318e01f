import { Readable } from 'node:stream'
import { CompiledQuery } from 'kysely'
import { safeMessageOf } from '../../../kit/index.ts'
import { findRowProblem, type CallableMethod } from '../../../runtime/index.ts'
import type { System } from '../../../store/index.ts'
import { rowsPerBatch } from '../describe-rows.ts'
import type { RowCaller, RowTable } from '../row-table.ts'
import { readTable, type LineProblem, type ReadRow } from './read-table.ts'

/** What an import tells while it runs, and how it ended. */
export type ImportLine =
  | { readonly kind: 'progress'; readonly step: 'check' | 'import'; readonly rows: number; readonly of: number | null }
  | ({ readonly kind: 'problem' } & LineProblem)
  /** Nothing was imported. `message` is null if the problems say why. */
  | { readonly kind: 'failed'; readonly message: string | null }
  | { readonly kind: 'done'; readonly rows: number }

export interface ImportOptions {
  /** The columns of a unique key: rows with the same values are changed. Without any, all rows are new. */
  readonly upsert: readonly string[]
  readonly skipsUnknown: boolean
}

/** As many problems help to correct a file. */
const maxProblems = 100
/** A batch of large values is sent earlier. */
const maxBatchSize = 4 * 1024 * 1024

/** Problems of lines were reported: nothing is imported. */
class Refused extends Error {}

/**
 * Imports a CSV file in one transaction: all rows or none. First the whole file is checked without the database.
 * @param file its path
 * @returns lines of JSON
 */
export function importRows(
  table: RowTable,
  file: string,
  { caller, onEnd, ...options }: ImportOptions & { readonly caller: RowCaller; onEnd(): Promise<void> },
): Readable {
  const stream = new Readable({ read() {} })
  const push = (line: ImportLine) => void stream.push(`${JSON.stringify(line)}\n`)
  const run = new Import(table, file, { ...options, caller, push })
  void run
    .start()
    .then((rows) => push({ kind: 'done', rows }))
    .catch((error: unknown) => {
      if (!(error instanceof Refused)) caller.log.warn({ err: error }, 'importing rows failed')
      push({ kind: 'failed', message: error instanceof Refused ? null : safeMessageOf(error) })
    })
    .then(onEnd)
    .finally(() => stream.push(null))
  return stream
}

interface ImportContext extends ImportOptions {
  readonly caller: RowCaller
  push(line: ImportLine): void
}

class Import {
  readonly #table: RowTable
  readonly #file: string
  readonly #context: ImportContext
  #problems = 0

  constructor(table: RowTable, file: string, context: ImportContext) {
    this.#table = table
    this.#file = file
    this.#context = context
  }

  async start(): Promise<number> {
    const { caller, upsert, push } = this.#context
    const method = await this.#table.importMethod(upsert)
    let count = 0
    const columns = new Set<string>()
    for await (const rows of this.#read()) {
      caller.signal.throwIfAborted()
      count += rows.length
      for (const { body } of rows) for (const name of Object.keys(body)) columns.add(name)
      push({ kind: 'progress', step: 'check', rows: count, of: null })
    }
    if (this.#problems > 0) throw new Refused()
    return this.#table.transaction(caller, async (audit, client) => {
      let imported = 0
      for await (const batch of divide(this.#read())) {
        await this.#insert(batch, method, client as System['db'])
        imported += batch.length
        push({ kind: 'progress', step: 'import', rows: imported, of: count })
      }
      if (this.#problems > 0) throw new Refused()
      await this.#table.advanceIds(client, [...columns])
      await audit('row.import', { rows: imported, columns: [...columns] })
      return imported
    })
  }

  #read() {
    const report = (problem: LineProblem) => this.#report(problem)
    return readTable(this.#table, this.#file, { skipsUnknown: this.#context.skipsUnknown, report })
  }

  #report(problem: LineProblem): void {
    this.#context.push({ kind: 'problem', ...problem })
    this.#problems += 1
    if (this.#problems >= maxProblems) throw new Refused()
  }

  /** Inserts rows. After one that the database refuses, the others are tried too, so that all problems are known. */
  async #insert(batch: readonly ReadRow[], method: CallableMethod, db: System['db']): Promise<void> {
    const execute = (text: string) => db.executeQuery(CompiledQuery.raw(text))
    let rows = batch
    while (rows.length > 0) {
      this.#context.caller.signal.throwIfAborted()
      await execute('savepoint waypost_import')
      try {
        await method.call({ body: rows.map(({ body }) => body) }, this.#context.caller)
        await execute('release savepoint waypost_import')
        return
      } catch (error) {
        const problem = findRowProblem(error)
        if (problem === undefined) throw error
        await execute('rollback to savepoint waypost_import')
        const { index, name = null, message } = problem
        this.#report({ line: rows[index]!.line, column: name, message })
        rows = rows.toSpliced(index, 1)
      }
    }
  }
}

/** Divides rows into batches of a number and a size that one statement takes. */
async function* divide(parts: AsyncIterable<readonly ReadRow[]>): AsyncGenerator<readonly ReadRow[]> {
  let batch: ReadRow[] = []
  let size = 0
  for await (const part of parts) {
    for (const row of part) {
      batch.push(row)
      size += row.size
      if (batch.length < rowsPerBatch && size < maxBatchSize) continue
      yield batch
      batch = []
      size = 0
    }
  }
  if (batch.length > 0) yield batch
}
