import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { ActionUse, Definition, Location } from '../definition/index.ts'
import { nearest, type Diagnostic } from '../kit/index.ts'
import { checkManifests } from './check-manifests.ts'
import { compareText } from './compare-text.ts'
import { openMigrationFiles, type MigrationFiles, type MigrationSource } from './load-migrations.ts'
import { loadPlace } from './load-place.ts'
import { checkSteps, kindsOfConnections } from './load-tables.ts'
import { makeDiagnostic, makePlace } from './make-diagnostic.ts'
import type { ManifestPlugin } from '../release/index.ts'

/** A file that becomes the artifact of an action. */
export interface ActionSource {
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
}

export interface Entries {
  readonly actions: readonly ActionSource[]
  /** Of both kinds. */
  readonly migrations: readonly MigrationSource[]
  readonly diagnostics: readonly Diagnostic[]
}

export interface FindOptions {
  /** Action files that need no check. */
  readonly known?: ReadonlySet<string>
  /** The built plugins, which know the databases of their connections. */
  readonly plugins?: readonly { readonly manifest: ManifestPlugin }[] | undefined
}

/** Returns the files to bundle, sorted. */
export function filesToBundle({ actions, migrations }: Entries): string[] {
  const coded = migrations.filter(({ declared }) => declared === undefined)
  return [...actions, ...coded].map(({ file }) => file).sort(compareText)
}

/** Finds the action and migration files of a project, each once, by name. Files that cannot be built become diagnostics. */
export async function findEntries(
  root: string,
  definition: Definition,
  { known = new Set(), plugins }: FindOptions = {},
): Promise<Entries> {
  const uses = [...firstUses(definition).values()]
  const files = await openMigrationFiles(root)
  const rejected = checkManifests(
    root,
    [...uses, ...files.migrations].map(({ file }) => normalizeFile(file)),
  )
  if (rejected.length > 0) return { actions: [], migrations: [], diagnostics: rejected }
  const checked = checkMigrations(files, definition, plugins)
  const actionProblems = await Promise.all(
    uses.map(async ({ file, at }) => (known.has(normalizeFile(file)) ? undefined : checkActionFile(root, file, at))),
  )
  const valid = uses.filter((_, index) => actionProblems[index] === undefined)
  const actions = new Map(valid.map(({ file }) => [normalizeFile(file), { file: normalizeFile(file) }]))
  return {
    actions: [...actions.values()].sort((a, b) => compareText(a.file, b.file)),
    migrations: checked.migrations,
    diagnostics: [...actionProblems.filter((problem) => problem !== undefined), ...checked.diagnostics],
  }
}

/** Checks the migrations of a project. Returns those that can be built. */
export function checkMigrations(
  files: MigrationFiles,
  definition: Definition,
  plugins: FindOptions['plugins'] = [],
): Pick<Entries, 'migrations' | 'diagnostics'> {
  const { migrations } = files
  const problems = migrations.map((migration) => checkMigration(migration, definition))
  return {
    migrations: migrations.filter((_, index) => problems[index] === undefined),
    diagnostics: [
      ...unique(problems).filter((problem) => problem !== undefined),
      ...migrations.flatMap((migration) => checkDeclared(migration, migrations)),
      ...checkSteps(
        files,
        kindsOfConnections(
          definition,
          plugins.map(({ manifest }) => manifest),
        ),
      ),
    ],
  }
}

/** Whether changed action files are still regular files inside the project. */
export async function areStillValid(
  { actions }: Entries,
  root: string,
  changed: ReadonlySet<string>,
): Promise<boolean> {
  const changedActions = actions.filter(({ file }) => changed.has(file))
  const targets = await Promise.all(changedActions.map(({ file }) => locateFile(root, file)))
  return targets.every((target) => target === 'inside')
}

/** A folder that names no connection is reported once, not for each of its files. */
function unique(problems: readonly (Diagnostic | undefined)[]): (Diagnostic | undefined)[] {
  return [...new Map(problems.map((problem) => [problem?.file, problem])).values()]
}

/** Normalizes `./src//a.ts` to `src/a.ts`. */
export function normalizeFile(file: string): string {
  return path.posix.normalize(file)
}

/** Maps each action file to its first use, where its problems are reported. */
function firstUses(definition: Definition): ReadonlyMap<string, ActionFile> {
  const uses = new Map<string, ActionFile>()
  for (const use of actionUses(definition)) if (!uses.has(use.file)) uses.set(use.file, use)
  return uses
}

type ActionFile = Extract<ActionUse, { file: string }>

function* actionUses(definition: Definition): Iterable<ActionFile> {
  for (const { methods } of definition.routes)
    for (const { action, steps = [] } of methods)
      for (const use of [action, ...steps.map((step) => step.action)]) if ('file' in use) yield use
  for (const { action } of Object.values(definition.listeners)) if ('file' in action) yield action
  for (const { action } of Object.values(definition.cronjobs)) if ('file' in action) yield action
}

async function checkActionFile(root: string, file: string, at: Location): Promise<Diagnostic | undefined> {
  const target = await locateFile(root, file)
  if (target === 'inside') return undefined
  const place = await loadPlace(root, at, file)
  if (target === 'outside') return makeDiagnostic('WP_BUILD_OUTSIDE', place, { parameters: { name: file } })
  return makeDiagnostic('WP_BUILD_ACTION_MISSING', place, { parameters: { file }, hint: await suggest(root, file) })
}

async function suggest(root: string, given: string): Promise<string | undefined> {
  const file = normalizeFile(given)
  const stats = await lstat(path.join(root, file)).catch(() => undefined)
  if (stats?.isSymbolicLink() === true) return `${file} is a broken symbolic link: fix or remove it`
  const sources = await listSources(root)
  const near = nearest(
    file,
    sources.filter((source) => source !== file),
  )
  return near && `Did you mean ${near}? To create a new file: waypost generate:action ${given}`
}

function checkMigration(migration: MigrationSource, definition: Definition): Diagnostic | undefined {
  const { connection, file } = migration
  if (connection !== 'System' && !Object.hasOwn(definition.connections, connection)) {
    const near = nearest(connection, ['System', ...Object.keys(definition.connections)])
    return makeDiagnostic('WP_BUILD_MIGRATION_CONNECTION', makePlace(`migrations/${connection}`, 1), {
      parameters: { name: connection },
      hint: near && `Did you mean migrations/${near}?`,
    })
  }
  const { fileProblem } = migration
  if (fileProblem === undefined) return undefined
  const place = makePlace(file, 1)
  return fileProblem.problem === 'refused'
    ? makeDiagnostic('WP_BUILD_FILE_REFUSED', place, { parameters: { name: file, reason: fileProblem.reason } })
    : makeDiagnostic('WP_BUILD_OUTSIDE', place, { parameters: { name: file } })
}

/** Checks a declared migration on its own. */
function checkDeclared(
  { connection, name, file, declared, fileProblem }: MigrationSource,
  all: readonly MigrationSource[],
): readonly Diagnostic[] {
  if (declared === undefined || fileProblem !== undefined) return []
  const place = makePlace(file, 1)
  const twin = all.find((one) => one.connection === connection && one.name === name && one.file !== file)
  const twice = twin && makeDiagnostic('WP_BUILD_MIGRATION_TWICE', place, { parameters: { other: twin.file } })
  const isEmpty = declared.steps.length === 0 && declared.diagnostics.length === 0
  const empty = isEmpty ? [makeDiagnostic('WP_BUILD_MIGRATION_EMPTY', place, { parameters: { file } })] : []
  return [...declared.diagnostics, ...(twice ? [twice] : []), ...empty]
}

/** Follows links: files outside the project must not be included. */
async function locateFile(root: string, file: string): Promise<'inside' | 'outside' | 'nowhere'> {
  const absolute = path.resolve(root, file)
  if (!isInside(root, absolute)) return 'outside'
  try {
    const real = await realpath(absolute)
    if (!(await stat(real)).isFile()) return 'nowhere'
    return isInside(root, real) ? 'inside' : 'outside'
  } catch {
    return 'nowhere'
  }
}

function isInside(root: string, file: string): boolean {
  const relative = path.relative(root, file)
  return relative !== '..' && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative)
}

async function listSources(root: string, folder = ''): Promise<string[]> {
  const files: string[] = []
  for (const entry of await readdir(path.join(root, folder), { withFileTypes: true })) {
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
    const file = path.posix.join(folder, entry.name)
    if (entry.isDirectory()) files.push(...(await listSources(root, file)))
    else if (/(?<!\.d)\.[jt]s$/.test(entry.name)) files.push(file)
  }
  return files
}
