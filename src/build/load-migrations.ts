import type { Stats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import type { TablesSnapshot } from '../contract/index.ts'
import {
  openFolder,
  parseMigration,
  readProjectBytes,
  type DeclaredMigration,
  type FileProblem,
  type Texts,
} from '../definition/index.ts'
import { sha256, type Diagnostic } from '../kit/index.ts'
import type { ManifestMigration } from '../release/index.ts'
import { isCovered, parseSnapshot, type Snapshot } from '../tables/index.ts'
import { compareText } from './compare-text.ts'
import { compileMigrations } from './compile-migrations.ts'

/** A file of `migrations/<Connection>/`. */
export interface MigrationSource {
  readonly connection: string
  /** File name without its extension. */
  readonly name: string
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
  /**
   * SHA-256 of the text with LF line ends, so that a checkout with CRLF has the same checksum; of a declared migration,
   * that of its value.
   */
  readonly checksum: string
  /** Whether it runs outside a transaction; of code, whether it seems so from its text. */
  readonly isOutside?: boolean
  /** What a migration in code does, if it was compiled: see `ManifestMigration.code`. */
  readonly code?: string | undefined
  /** Set if the file is YAML. */
  readonly declared?: DeclaredMigration
  /** Why the file could not be read. */
  readonly fileProblem?: FileProblem
}

/** The tables of a connection after its migrations. */
export interface CompletedTables {
  readonly connection: string
  readonly tables: TablesSnapshot
  readonly diagnostics: readonly Diagnostic[]
  /** Problems of the steps of declared migrations. */
  readonly stepDiagnostics: readonly Diagnostic[]
  /** The files that were read or are missing. */
  readonly files: readonly string[]
}

/** The files below `migrations/`. */
export interface MigrationFiles {
  /** By connection, then by name. */
  readonly migrations: readonly MigrationSource[]
  /** Reads a `tables.json`. */
  read(file: string): { readonly text: string } | FileProblem
  /** The tables loaded from them, by connection, if they are cached. */
  readonly loaded?: Map<string, readonly CompletedTables[]>
}

const maxBytes = 1024 * 1024
const maxTablesBytes = 16 * 1024 * 1024

const otherExtension = { problem: 'refused', reason: 'the name of a declared migration must end in .yml' } as const

/** Opens the migrations of a project; none if the folder does not exist. */
export async function openMigrationFiles(root: string): Promise<MigrationFiles> {
  const project = openFolder(root)
  const read: MigrationFiles['read'] = (file) => {
    if (project === undefined) return { problem: 'missing' }
    const found = readProjectBytes(project, file, maxTablesBytes)
    return 'bytes' in found ? { text: new TextDecoder().decode(found.bytes) } : found
  }
  return { migrations: await compileChanged(root, await loadMigrations(root), read), read }
}

/** Compiles the migrations whose text is not the one that `tables.json` covers: only their layout may have changed. */
async function compileChanged(
  root: string,
  migrations: readonly MigrationSource[],
  read: MigrationFiles['read'],
): Promise<readonly MigrationSource[]> {
  const covered = new Map<string, Snapshot['migrations']>()
  for (const connection of new Set(migrations.map((one) => one.connection))) {
    const found = read(`migrations/${connection}/tables.json`)
    const parsed = 'text' in found ? parseSnapshot(found.text) : found
    if ('migrations' in parsed) covered.set(connection, parsed.migrations)
  }
  const changed = migrations.filter((one) => {
    const known = covered.get(one.connection)?.[one.name]
    return one.declared === undefined && known !== undefined && !isCovered(known, one)
  })
  if (changed.length === 0) return migrations
  const { codes } = await compileMigrations(await realpath(root), changed)
  return migrations.map((one) => ({ ...one, code: codes.get(one.file) }))
}

/** The last results, by the texts they were made from. */
export interface MigrationCache {
  /** By file. */
  readonly parsed: Map<string, { readonly text: string; readonly source: MigrationSource }>
  last?: MigrationFiles & { readonly tables: Texts }
}

/**
 * The migrations among texts, and those with code of a release.
 * @param coded those of the release
 * @param cache those with an unchanged text are not parsed again; if none has changed, the result is the same
 */
export function makeMigrationFiles(
  texts: Texts,
  coded: readonly ManifestMigration[],
  cache: MigrationCache = { parsed: new Map() },
): MigrationFiles {
  const found = [...texts].flatMap(([file, text]) => {
    const known = cache.parsed.get(file)
    if (known?.text === text) return [known.source]
    const [, connection, entry = '', extension] = /^migrations\/([^/]+)\/([^/]+)\.(ya?ml)$/.exec(file) ?? []
    if (connection === undefined || connection.startsWith('.') || entry.startsWith('.')) return []
    const read = extension === 'yaml' ? otherExtension : { bytes: Buffer.from(text) }
    const source = { connection, name: entry, file, ...readSource({ file, isDeclared: true }, read) }
    cache.parsed.set(file, { text, source })
    return [source]
  })
  const ofRelease = coded
    .filter(({ declared }) => declared === undefined)
    .map(({ connection, name, checksum, code, outside }) => ({
      isOutside: outside === true,
      connection,
      name,
      file: `migrations/${connection}/${name}.ts`,
      checksum,
      code,
    }))
  const migrations = [...found, ...ofRelease].sort(
    (a, b) => compareText(a.connection, b.connection) || compareText(a.file, b.file),
  )
  const tables = new Map([...texts].filter(([file]) => /^migrations\/[^/]+\/tables\.json$/.test(file)))
  const { last } = cache
  const isSame =
    last !== undefined &&
    last.migrations.length === migrations.length &&
    last.migrations.every((one, index) => isUnchanged(one, migrations[index]!)) &&
    JSON.stringify([...last.tables]) === JSON.stringify([...tables])
  if (isSame) return last
  cache.last = {
    migrations,
    tables,
    loaded: new Map(),
    read(file) {
      const text = tables.get(file)
      return text === undefined ? { problem: 'missing' } : { text }
    },
  }
  return cache.last
}

function isUnchanged(one: MigrationSource, other: MigrationSource): boolean {
  const isCoded = one.declared === undefined && other.declared === undefined
  return one === other || (isCoded && one.file === other.file && one.checksum === other.checksum)
}

/** Returns all migrations of a project, by connection, then by name; none if the folder does not exist. */
async function loadMigrations(root: string): Promise<MigrationSource[]> {
  const migrations: MigrationSource[] = []
  const project = openFolder(root)
  if (project === undefined) return []
  for (const connection of await list(path.join(root, 'migrations'))) {
    const folder = path.join(root, 'migrations', connection)
    if ((await statOf(folder))?.isDirectory() !== true) continue
    for (const entry of await list(folder)) {
      const match = /^(?!(?:tables|types)\.ts$|.*\.d\.ts$)(.+)\.(ts|ya?ml)$/.exec(entry)
      const stats = match && (await statOf(path.join(folder, entry)))
      if (!match || !stats || stats.isDirectory()) continue
      const file = `migrations/${connection}/${entry}`
      const read = match[2] === 'yaml' ? otherExtension : readProjectBytes(project, file, maxBytes)
      const isDeclared = match[2] !== 'ts'
      migrations.push({ connection, name: match[1]!, file, ...readSource({ file, isDeclared }, read) })
    }
  }
  return migrations
}

function readSource(
  { file, isDeclared }: { readonly file: string; readonly isDeclared: boolean },
  read: { readonly bytes: Uint8Array } | FileProblem,
): Pick<MigrationSource, 'checksum' | 'declared' | 'fileProblem' | 'isOutside'> {
  const text = 'bytes' in read ? new TextDecoder().decode(read.bytes) : ''
  const declared = isDeclared ? parseMigration(file, text) : undefined
  return {
    checksum: declared?.checksum ?? sha256(text.replaceAll('\r\n', '\n')),
    isOutside: declared?.steps.some((step) => 'concurrently' in step) ?? /\btransaction\s*:\s*false\b/.test(text),
    ...(declared && { declared }),
    ...('bytes' in read ? {} : { fileProblem: read }),
  }
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith('.')).sort(compareText)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file)
  } catch (error) {
    // A broken link is not a migration.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
