import type { RowCondition } from './row-conditions.ts'
import type { Row, TableDatabase } from './run.ts'
import type { Input } from './statement-values.ts'
import { digestAlias, isTrue, ruleAlias } from './statements.ts'

interface Removal {
  readonly key: string
  readonly change: RowCondition
  readonly input: Input
}

/**
 * Returns a function that deletes a row. If a rule of PostgreSQL replaces the statement, it returns no row and counts none,
 * so the row is compared: many rules mark it as deleted instead. What a rule that leaves the row as it was does is rolled back.
 */
export function makeRemoval() {
  let isReplaced: boolean | undefined
  return async (database: TableDatabase, { key, change, input }: Removal): Promise<readonly Row[]> => {
    isReplaced ??= database.kind === 'postgresql' && isTrue((await findRefusals(database, input))[ruleAlias])
    if (!isReplaced) return database.run(`delete ${key}`, (writer) => writer.delete(change), input)
    const unchanged = new Error('The row is unchanged')
    const replacing = database.transaction(async ({ run }) => {
      const [before] = await run(`digest ${key}`, (writer) => writer.digest(change), input)
      if (before === undefined) return []
      await run(`delete ${key}`, (writer) => writer.delete(change, true), input)
      const [after] = await run(`after ${key}`, (writer) => writer.digest({ access: change.access }), input)
      if (after?.[digestAlias] === before[digestAlias]) throw unchanged
      return [before]
    })
    return replacing.catch((error: unknown) => {
      if (error === unchanged) return []
      throw error
    })
  }
}

/** Finds out what of PostgreSQL may keep a statement from changing a row. */
export async function findRefusals(database: TableDatabase, input: Input): Promise<Row> {
  return (await database.run('refusals', (writer) => writer.findRefusals(), input))[0]!
}
