import { findLocalSources, listEnvFiles, readSources } from '../kit/index.ts'
import type { Finding } from '../operate/index.ts'

const check = 'env files'
const shownNames = 20

/**
 * Says which file of a project each variable comes from in development. Never a value. Says nothing without such files.
 * @throws WP_KIT_MODE, WP_KIT_ENV_FILE
 */
export function checkEnvFiles(folder: string): readonly Finding[] {
  const names = listEnvFiles(folder)
  const sources = readSources(folder, names)
  const set = new Set(sources.files.flatMap(({ variables }) => Object.keys(variables)))
  const from = Map.groupBy([...set].toSorted(), (name) => findLocalSources(sources, name)[0])
  const found = (['environment', ...names] as const).flatMap((source) => {
    const own = from.get(source as NonNullable<ReturnType<typeof findLocalSources>[0]>) ?? []
    return own.length === 0 ? [] : [`${own.slice(0, shownNames).join(', ')}${more(own)} from ${nameOf(source)}`]
  })
  if (found.length === 0) return []
  const isOfMode = sources.files.some(({ name, variables }) => name !== '.env' && Object.keys(variables).length > 0)
  const others = isOfMode ? '. Only dev, seed, run, db:reset and migrate read other files than .env' : ''
  return [{ check, state: 'ok', message: `${found.join('; ')}${others}` }]
}

function nameOf(source: string): string {
  return source === 'environment' ? 'the environment' : source
}

function more(names: readonly string[]): string {
  return names.length <= shownNames ? '' : ` and ${names.length - shownNames} more`
}
