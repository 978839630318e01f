import type { KyselyPlugin } from 'kysely'
import type { System } from '../../src/store/index.ts'

/**
 * A System whose statements fail when a test says so, in transactions and outside.
 * @param refuse is called with what a statement says and its parameters, as one text; throws what the database would say
 */
export function refuseStatements(system: System, refuse: (text: string) => void): System {
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      const text = JSON.stringify(node)
      if (!text.includes('"rollback"')) refuse(text) // or the connection would keep what failed
      return node
    },
    transformResult: async ({ result }) => result,
  }
  return {
    ...system,
    db: system.db.withPlugin(plugin),
    transaction: (work) => system.transaction((trx) => work(trx.withPlugin(plugin))),
  }
}
