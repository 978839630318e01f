import { readdirSync } from 'node:fs'
import path from 'node:path'
import { nearest } from '../../kit/index.ts'
import { errors } from '../errors.ts'

/** A file in `seeds/`. */
export interface SeedFile {
  /** The name of the file without its extension. */
  readonly name: string
  /** Relative to the project, with forward slashes. */
  readonly file: string
}

/**
 * Lists the seeds of a project in the order in which they run: by name.
 * @throws WP_PROJECT_SEED_TWICE
 */
export function listSeeds(folder: string): readonly SeedFile[] {
  const seeds = listFiles(path.join(folder, 'seeds'))
    .filter((base) => /^[^.].*\.[jt]s$/.test(base) && !base.endsWith('.d.ts'))
    .map((base) => ({ name: base.slice(0, -'.ts'.length), file: `seeds/${base}` }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const twice = seeds.find(({ name }, index) => seeds[index - 1]?.name === name)
  if (twice !== undefined) throw errors.WP_PROJECT_SEED_TWICE({ name: twice.name })
  return seeds
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** `01-users` may be called `users`. */
const withoutNumber = (name: string) => name.replace(/^\d+[-_.]/, '')

/**
 * Returns the seed with a name, of which the leading number may be missing if only one seed then has this name.
 * @throws WP_PROJECT_SEED_UNKNOWN
 */
export function findSeed(seeds: readonly SeedFile[], wanted: string): SeedFile {
  const exact = seeds.find(({ name }) => name === wanted)
  if (exact !== undefined) return exact
  const [found, ...others] = seeds.filter(({ name }) => withoutNumber(name) === wanted)
  if (found !== undefined && others.length === 0) return found
  const names = seeds.map(({ name }) => name)
  const guess = nearest(wanted, [...names, ...names.map(withoutNumber)])
  const all = names.length === 0 ? 'seeds/ is empty.' : `Seeds: ${names.join(', ')}.`
  const hint = guess === undefined ? all : `Did you mean "${guess}"?`
  throw errors.WP_PROJECT_SEED_UNKNOWN({ name: wanted, hint })
}
