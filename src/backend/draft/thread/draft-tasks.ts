import type { DatabaseKind } from '../../../contract/index.ts'
import {
  addColumns,
  addValues,
  findColumnUses,
  findIncludes,
  findKey,
  findEntryText,
  findValue,
  listUses,
  locateDefinition,
  rename,
  renameColumns,
  type AddedColumn,
  type ClassCatalog,
  type ColumnPlace,
  type EditedFiles,
  type Editing,
  type EntryText,
  type LocatedDefinition,
  type Location,
  type LostUse,
  type NewValues,
  type TableColumns,
  type Texts,
} from '../../../definition/index.ts'
import type { HtmlRoutes } from '../../../host/index.ts'
import type { Diagnostic } from '../../../kit/index.ts'
import {
  compareReleases,
  parseManifest,
  serializeRelease,
  type Artifact,
  type ComparedManifests,
  type ManifestMigration,
  type ManifestPlugin,
  type SerializedRelease,
} from '../../../release/index.ts'
import { describeBreaking, describeLosses, writeStep } from '../../../tables/index.ts'
import { listChangedEntries } from '../changed-entries.ts'
import { formatDiagnostics } from '../format-diagnostics.ts'
import { listChanges, type ChangedFile } from '../list-changes.ts'
import {
  findValueConflict,
  planEdits,
  type EditConflict,
  type PlannedEdits,
  type RequestedEdits,
} from '../plan-edits.ts'
import {
  listDraftChanges,
  rebase,
  selectChanges,
  type RebaseConflict,
  type RebaseSide,
} from '../system/draft-changes.ts'
import { etagOfValue, keysOf } from '../values.ts'
import { tableTasks } from './table-tasks.ts'
import { openTexts, type CodedTexts, type TaskContext } from './task-context.ts'

/** A use of an action's file. */
export interface FileUse {
  /** `GET /todo`, or `cronjob tidy`. */
  readonly name: string
  readonly file: string
}

export interface LinkedRelease extends Pick<SerializedRelease, 'id' | 'manifest'> {
  /** The artifacts that the release of its code does not have. */
  readonly own: readonly Artifact[]
  /** All artifacts, in order. */
  readonly hashes: readonly string[]
  /** Compared with the release of its code. */
  readonly compared: ComparedManifests
}

/** The statements and losses of a declared migration. */
export interface DescribedMigration {
  readonly sql: readonly string[]
  readonly breaking: readonly string[]
  readonly losses: readonly string[]
}

/** The work on texts of a definition that grows with them. Each runs in a thread. Inputs and results can be sent. */
export const draftTasks = {
  /** Returns diagnostics as the admin API does. */
  format(context: TaskContext, { texts, diagnostics }: { texts: Texts; diagnostics: readonly Diagnostic[] }) {
    return formatDiagnostics(openTexts(context, texts), diagnostics)
  },

  value(
    context: TaskContext,
    { texts, at }: { texts: Texts; at: string },
  ): { readonly value: unknown; readonly etag: string; readonly entry: EntryText } | undefined {
    const [editing, keys] = [openTexts(context, texts), keysOf(at)]
    const value = findValue(editing, keys)
    const entry = value === undefined ? undefined : findEntryText(editing, keys)
    return entry === undefined ? undefined : { value, etag: etagOfValue(value), entry }
  },

  /** Returns the places of keys: `file:line`. */
  locate(
    context: TaskContext,
    { texts, keys }: { texts: Texts; keys: readonly (readonly string[])[] },
  ): readonly (string | undefined)[] {
    const editing = openTexts(context, texts)
    return keys.map((one) => {
      const place = findKey(editing, one)
      return place === undefined ? undefined : `${place.file}:${place.line}`
    })
  },

  /** Returns the places of all entries. */
  locateAll({ edited }: TaskContext, { texts }: { texts: Texts }): LocatedDefinition {
    return locateDefinition(texts, edited)
  },

  includes(context: TaskContext, { texts, file }: { texts: Texts; file: string }): readonly string[] {
    return findIncludes(openTexts(context, texts), file)
  },

  planEdits(
    context: TaskContext,
    { texts, request }: { texts: Texts; request: RequestedEdits },
  ): PlannedEdits | { readonly conflicts: readonly EditConflict[] } {
    return planEdits({ texts, editing: openTexts(context, texts) }, request)
  },

  uses(
    context: TaskContext,
    { texts, at, classes }: { texts: Texts; at: string; classes: ClassCatalog },
  ): ReturnType<typeof listUses> {
    const [editing, keys] = [openTexts(context, texts), keysOf(at)]
    // Already removed: a 404 response would be an error in the console of the browser.
    if (findValue(editing, keys) === undefined && keys[0] !== 'scope') return []
    return listUses(editing, keys, { classes })
  },

  rename(
    context: TaskContext,
    {
      texts,
      at,
      condition,
      ...to
    }: { texts: Texts; at: string; condition: string | null | undefined; to: string; classes: ClassCatalog },
  ): ReturnType<typeof rename> | { readonly conflicts: readonly EditConflict[] } {
    const editing = openTexts(context, texts)
    const conflicts = findValueConflict({ editing }, { at, ...(condition === undefined ? {} : { if: condition }) })
    return conflicts.length > 0 ? { conflicts } : rename(editing, keysOf(at), to)
  },

  /** Renames columns where they are named, adds new ones, and finds the uses of dropped ones, or of a dropped table. */
  columns(
    context: TaskContext,
    {
      texts,
      renamed,
      dropped,
      added,
      isTableDropped,
      ...known
    }: {
      texts: Texts
      connection: string
      table: string
      referring: TableColumns['referring']
      classes: ClassCatalog
      renamed: readonly (readonly [string, string])[]
      dropped: readonly string[]
      added: {
        readonly columns: readonly AddedColumn[]
        readonly values: readonly NewValues[]
        readonly known: readonly string[]
        /** The names of those that are added to the API. */
        readonly chosen: readonly string[]
      }
      isTableDropped: boolean
    },
  ): Omit<ReturnType<typeof renameColumns>, 'lost'> & {
    readonly lost: readonly LostUse[]
    readonly places: readonly ColumnPlace[]
  } {
    const editing = openTexts(context, texts)
    const named = renameColumns(editing, { ...known, columns: new Map(renamed), dropped })
    if (isTableDropped) {
      const lost = findColumnUses(editing, known).map((use) => ({ ...use, isBlocking: !use.isGuess }))
      return { ...named, lost, places: [] }
    }
    let { files } = named
    const edit = <Result extends { readonly files: EditedFiles }>(change: (opened: Editing) => Result): Result => {
      const done = change(openTexts(context, withFiles(texts, files)))
      files = new Map([...files, ...done.files])
      return done
    }
    const { columns, values } = added
    const places = columns.length === 0 ? [] : edit((opened) => addColumns(opened, { ...known, ...added })).places
    if (values.length > 0) edit((opened) => ({ files: addValues(opened, { ...known, columns: values }) }))
    return { ...named, files, places }
  },

  /** Lists the changed files, without their texts. */
  diff(
    _context: TaskContext,
    { before, after }: { before: Texts; after: Texts },
  ): readonly Omit<ChangedFile, 'before' | 'after'>[] {
    return listChanges(before, after).map(({ before: _, after: __, ...rest }) => rest)
  },

  /** Returns the JSON pointers of the entries that differ. */
  changedEntries(context: TaskContext, { before, texts }: { before: Texts; texts: Texts }): readonly string[] {
    return listChangedEntries(openTexts(context, before), openTexts(context, texts))
  },

  /** Lists the changes of a draft, by entry. */
  compare({ compared }: TaskContext, { base, texts }: { base: Texts; texts: Texts }) {
    return listDraftChanges(base, texts, compared)
  },

  /** @returns the files that differ from those of the draft */
  rebase(
    _context: TaskContext,
    {
      sides,
      texts,
      ...bases
    }: { oldBase: Texts; newBase: Texts; texts: Texts; sides: Readonly<Record<string, RebaseSide>> },
  ): { readonly files: EditedFiles; readonly conflicts: readonly RebaseConflict[] } {
    const rebased = rebase({ ...bases, draft: texts }, sides)
    return { files: listDifferent(texts, rebased.texts), conflicts: rebased.conflicts }
  },

  /** @returns the files that differ from those of the draft */
  select(_context: TaskContext, { base, texts, names }: { base: Texts; texts: Texts; names: readonly string[] }) {
    return listDifferent(texts, selectChanges({ base, draft: texts }, names))
  },

  async check(
    context: TaskContext,
    draft: CodedTexts,
  ): Promise<{
    readonly diagnostics: readonly Diagnostic[]
    readonly plugins: readonly ManifestPlugin[]
    /** Whether it can be linked. */
    readonly isValid: boolean
    /** The methods that may send pages with scripts. */
    readonly html: HtmlRoutes
  }> {
    const { diagnostics, plugins, definition } = await context.load(draft)
    const routes = (definition?.routes ?? []).flatMap(({ path, methods }) => {
      const own = methods.flatMap(({ method, html, at }) => (html === undefined ? [] : [{ method, html, at }]))
      return own.length === 0 ? [] : [{ path, methods: own }]
    })
    return { diagnostics, plugins, isValid: definition !== undefined, html: { routes } }
  },

  /** Makes the release of a definition without errors. */
  async link(context: TaskContext, draft: CodedTexts): Promise<LinkedRelease> {
    const { own, base: before, ...built } = await context.link(draft)
    const { id, manifest, artifacts } = serializeRelease(built)
    const compared = compareReleases(before, parseManifest(manifest))
    return { id, manifest, hashes: artifacts.map(({ hash }) => hash), own, compared }
  },

  /** Lists the files with code that a definition uses, despite its errors. */
  async fileUses(context: TaskContext, draft: CodedTexts): Promise<readonly FileUse[]> {
    const { definition, partial = definition } = await context.load(draft)
    if (partial === undefined) return []
    const uses = [
      ...partial.routes.flatMap(({ path, methods }) =>
        methods.flatMap(({ method, action, steps = [] }) =>
          [action, ...steps.map((step) => step.action)].map((one) => ({ name: `${method} ${path}`, action: one })),
        ),
      ),
      ...Object.entries(partial.listeners).map(([name, { action }]) => ({ name: `listener ${name}`, action })),
      ...Object.entries(partial.cronjobs).map(([name, { action }]) => ({ name: `cronjob ${name}`, action })),
    ]
    return uses.flatMap(({ name, action }) => ('file' in action ? [{ name, file: action.file }] : []))
  },

  /** Returns the places of the actions of some methods. */
  async actionPlaces(
    context: TaskContext,
    {
      methods,
      ...draft
    }: CodedTexts & { readonly methods: readonly { readonly method: string; readonly path: string }[] },
  ): Promise<readonly (Location | undefined)[]> {
    const { definition } = await context.load(draft)
    const routes = new Map(definition?.routes.map((route) => [route.path, route.methods]))
    return methods.map(({ method, path }) => routes.get(path)?.find((one) => one.method === method)?.action.at)
  },

  async migrations(
    context: TaskContext,
    {
      wanted,
      ...draft
    }: CodedTexts & {
      readonly wanted: readonly (Pick<ManifestMigration, 'connection' | 'name'> & {
        readonly kind: DatabaseKind | undefined
      })[]
    },
  ): Promise<readonly DescribedMigration[]> {
    const { migrations } = (await context.load(draft)).migrations
    return wanted.map(({ connection, name, kind }) => {
      const source = migrations.find((one) => connection === one.connection && name === one.name)
      const steps = source?.declared?.steps ?? []
      return {
        sql: kind === undefined ? [] : steps.flatMap((step) => writeStep(step, kind)),
        breaking: describeBreaking(steps),
        losses: describeLosses(steps),
      }
    })
  },

  ...tableTasks,
}

export type DraftTasks = typeof draftTasks
export type TaskName = keyof DraftTasks
export type TaskInput<Name extends TaskName> = Parameters<DraftTasks[Name]>[1]
export type TaskOutput<Name extends TaskName> = Awaited<ReturnType<DraftTasks[Name]>>

function listDifferent(before: Texts, after: Texts): EditedFiles {
  const files = new Map<string, string | undefined>()
  for (const file of before.keys()) if (!after.has(file)) files.set(file, undefined)
  for (const [file, text] of after) if (before.get(file) !== text) files.set(file, text)
  return files
}

function withFiles(texts: Texts, files: EditedFiles): Texts {
  const changed = [...files].flatMap(([file, text]) => (text === undefined ? [] : [[file, text] as const]))
  return new Map([...[...texts].filter(([file]) => !files.has(file)), ...changed])
}
