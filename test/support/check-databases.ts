import type { Kysely } from 'kysely'
import { systemClock } from '../../src/kit/index.ts'
import { checkDatabases } from '../../src/operate/doctor/check-databases.ts'

/** Returns what `waypost doctor` finds out about the routes of a release that use one connection to PostgreSQL. */
export function findDatabaseProblems(
  db: Kysely<unknown>,
  { url, routes }: { readonly url: string; readonly routes: readonly unknown[] },
): ReturnType<typeof checkDatabases> {
  const manifest = {
    connections: { Shop: { class: 'postgresql', config: { url } } },
    plugins: [],
    artifacts: {},
    migrations: [],
    variables: {},
    routes,
  }
  const host = { system: { kind: 'postgresql', db }, folder: '.', variables: {}, clock: systemClock }
  return checkDatabases(host as never, { id: 'r', manifest } as never)
}
