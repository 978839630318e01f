import { nearest } from '../kit/index.ts'
import { errors } from './errors.ts'

/**
 * Checks that a connection has migrations. The error lists those that do.
 * @throws WP_PROJECT_CONNECTION
 */
export function checkConnection(name: string, migrations: ReadonlyMap<string, unknown>): string {
  if (migrations.has(name) || name === 'System') return name
  const names = ['System', ...migrations.keys()]
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_CONNECTION({
    name,
    hint:
      guess === undefined
        ? `Connections with migrations: ${[...new Set(names)].join(', ')}.`
        : `Did you mean "${guess}"?`,
  })
}

/** Returns a full command of the topic `migrate`, with `--connection` if several connections have migrations. */
export function commandFor(command: string, name: string, migrations: ReadonlyMap<string, unknown>): string {
  return `npx waypost ${command}${migrations.size > 1 ? ` --connection ${name}` : ''}`
}

/**
 * Returns the only connection with migrations. If there are several, the error lists the full command for each.
 * @param command without the connection, for example `migrate:redo`
 */
export function chooseConnection(command: string, migrations: ReadonlyMap<string, unknown>): string {
  const [first = 'System', ...others] = migrations.keys()
  if (others.length === 0) return first
  const names = [first, ...others]
  throw errors.WP_PROJECT_MIGRATION_WHERE({
    names: names.join(', '),
    commands: names.map((name) => `  ${commandFor(command, name, migrations)}`).join('\n'),
  })
}
