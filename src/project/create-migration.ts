import { existsSync, readdirSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { nearest, systemClock, type Clock, type Diagnostic } from '../kit/index.ts'
import { notImplemented } from '../store/index.ts'
import { nameMigration } from '../tables/index.ts'
import { errors } from './errors.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'

export interface CreateMigrationOptions {
  readonly folder: string
  /** Words without date and extension. */
  readonly name: string
  /** `System` by default. */
  readonly connection?: string | undefined
  /** Declare the migration in YAML instead of TypeScript. */
  readonly isYaml?: boolean | undefined
  readonly clock?: Clock
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

/**
 * Creates the file of a new migration that sorts after the existing ones and stays pending until it is
 * implemented.
 * @returns its path, relative to the folder
 * @throws WP_PROJECT_MIGRATION_NAME, WP_PROJECT_CONNECTION
 */
export async function createMigration(options: CreateMigrationOptions): Promise<string> {
  const { folder, name, connection = 'System', isYaml = false, clock = systemClock } = options
  const words = name
    .trim()
    .replaceAll(/[\s_]+/g, '-')
    .replace(/\.(ts|yml)$/, '')
    .toLowerCase()
  if (!/^[a-z\d]+(-[a-z\d]+)*$/.test(words) || words.length > 100) throw errors.WP_PROJECT_MIGRATION_NAME({ name })
  const project = findProject(folder)
  if (connection !== 'System') await assertConnection(options, connection)
  const target = path.join(project.root, 'migrations', connection)
  const file = `${nameMigration(listNames(target), words, new Date(clock.now()))}.${isYaml ? 'yml' : 'ts'}`
  await mkdir(target, { recursive: true })
  await writeFile(path.join(target, file), isYaml ? yamlTemplate : template(words), { flag: 'wx' })
  return `migrations/${connection}/${file}`
}

async function assertConnection({ folder, onDiagnostics }: CreateMigrationOptions, name: string): Promise<void> {
  const loaded = await loadProject(findProject(folder))
  // A missing action file does not prevent creating the migration.
  const isThere = Object.hasOwn(loaded.partial?.connections ?? {}, name)
  if (isThere) return
  const definition = assertDefinition(loaded, (diagnostics) => onDiagnostics?.(diagnostics))
  const names = ['System', ...Object.keys(definition.connections)]
  if (names.includes(name)) return
  const guess = nearest(name, names)
  const hint =
    guess === undefined
      ? `Declare it under "connection:" in waypost.yml. Declared: ${names.join(', ')}.`
      : `Did you mean "${guess}"?`
  throw errors.WP_PROJECT_CONNECTION({ name, hint })
}

function listNames(folder: string): readonly string[] {
  return (existsSync(folder) ? readdirSync(folder) : [])
    .filter((file) => /\.(ts|yml)$/.test(file) && !['tables.ts', 'types.ts'].includes(file))
    .map((file) => file.replace(/\.\w+$/, ''))
}

function template(words: string): string {
  return `import type { Migration } from 'waypost'

export default {
  async up(db, type) {
    throw new Error('${notImplemented(words)}')
  },
  async down(db) {
    throw new Error('${notImplemented(words)}')
  },
} satisfies Migration
`
}

/** A file without steps stays pending. */
const yamlTemplate = `# Steps: create_table, add_column, alter_column, add_index, drop_index, rename_column, drop_column, drop_table
# Types: id, integer, bigint, number, text, text(LENGTH), boolean, timestamp, date, json, uuid,
#   { type: enum, values: [open, closed] }, { type: numeric, precision: 10, scale: 2 }
#
# create_table:
#   app_order:
#     columns:
#       id: id
#       title: text(64)
#       note: { type: text, null: true }
#       status: { type: integer, default: 1 }
#       insert_date: { type: timestamp, default: now }
#     index: [[status, insert_date, id]]
`
