/**
 * Names a migration: `20261128093000-words`. Migrations run in order of their names, which begin with the date and time
 * in UTC, or a later one if a migration of another name would not run before.
 * @param used the names of the others
 */
export function nameMigration(used: readonly string[], words: string, now: Date): string {
  const time = Number(now.toISOString().replaceAll(/\D/g, '').slice(0, 14))
  const [last = ''] = used.toSorted().slice(-1)
  const digits = /^\d+(?=-|$)/.exec(last)?.[0].padEnd(14, '0').slice(0, 14)
  const name = `${time}-${words}`
  return last < name || digits === undefined ? name : `${Number(digits) + 1}-${words}`
}
