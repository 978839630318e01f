import { nearest } from '../kit/index.ts'
import { errors } from './errors.ts'

/** Says which connections have migrations, where a name is none of theirs. @throws WP_PROJECT_CONNECTION */
export function checkConnection(name: string, migrations: ReadonlyMap<string, unknown>): string {
  if (migrations.has(name) || name === 'System') return name
  const names = ['System', ...migrations.keys()]
  const guess = nearest(name, names)
  throw errors.WP_PROJECT_CONNECTION({
    name,
    hint:
      guess === undefined ? `There is migrations/ for: ${[...new Set(names)].join(', ')}.` : `Did you mean "${guess}"?`,
  })
}
