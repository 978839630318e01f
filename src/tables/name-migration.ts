/**
 * Names a migration. Migrations run in order of their names, which begin with the date, and with the time if needed.
 * @param used the names of the others
 */
export function nameMigration(used: readonly string[], words: string, now: Date): string {
  const digits = now.toISOString().replaceAll(/\D/g, '')
  const names = [8, 12, 14, 17].map((length) => `${digits.slice(0, length)}-${words}`)
  return names.find((name) => used.every((one) => one < name)) ?? names.at(-1)!
}
