import type { KyselyPlugin } from 'kysely'
import { errors as sqlErrors } from '../../src/store/sql/errors.ts'
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

/** A System whose reading of the workers waits while `isHeld`, until `continue` is called. */
export function holdWorkers(system: System) {
  const [reading, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const hold = {
    isHeld: false,
    isReading: reading.promise,
    continue: () => held.resolve(),
    system: {
      ...system,
      db: system.db.withPlugin({
        transformQuery: ({ node }) => node,
        transformResult: async ({ result }) => {
          if (hold.isHeld && result.rows[0]?.['expired'] !== undefined) {
            reading.resolve()
            await held.promise
          }
          return result
        },
      }),
    } satisfies System,
  }
  return hold
}

const unreachable = () => sqlErrors.WP_STORE_UNREACHABLE({ database: 'test', host: 'test', reason: 'it is away' })
export const storeBusy = () => sqlErrors.WP_STORE_BUSY({ database: 'test', seconds: 5 })

/** A System of which some statements can be made to fail; all of them by default. */
export function breakable(system: System, which = '', fail = unreachable) {
  let left = 0
  let failed = 0
  return {
    system: refuseStatements(system, (text) => {
      if (left === 0 || !text.includes(which)) return
      left--
      failed++
      throw fail()
    }),
    failed: () => failed,
    /** Fails the next so many of them; all by default, until it is mended. */
    fail: (count = Infinity) => void (left = count),
    mend: () => void (left = 0),
  }
}

/** A System that counts the transactions which are opened. */
export function countTransactions(system: System) {
  let count = 0
  const transaction: System['transaction'] = (work) => {
    count++
    return system.transaction(work)
  }
  return { system: { ...system, transaction }, count: () => count }
}
