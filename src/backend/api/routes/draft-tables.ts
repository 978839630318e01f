import type { TableRequest } from '../../../build/index.ts'
import { Type, type Static } from 'typebox'
import { maxPrecision, type TableDesign } from '../../../tables/index.ts'
import type { ColumnPlace, ColumnUse, LostUse } from '../../../definition/index.ts'
import type { Draft } from '../../draft/draft.ts'
import type { PlannedDraft } from '../../draft/planned-draft.ts'
import type { DraftFiles, FileChange } from '../../draft/file-change.ts'
import type { DesignRequest, DraftTables, PlannedMigration, PlannedTableApi } from '../../draft/draft-tables.ts'
import { invertFiles, listEdited } from '../../draft/plan-edits.ts'
import { findReferring } from '../../rows/find-referring.ts'
import { saveChange } from '../../draft/save-changes.ts'
import { errors } from '../../errors.ts'
import { defineRoute } from '../route.ts'
import { maybeText, oneOf, record, text } from '../shapes.ts'
import { respondSaved, draftOf, draftSaved, loadClasses, refuseAsProblem } from './draft-shapes.ts'

const name = Type.String({ maxLength: 200 })
const names = Type.Array(name, { maxItems: 1000 })
const columnType = oneOf(
  'id', 'integer', 'bigint', 'number', 'text', 'boolean', 'timestamp', 'date', 'json', 'uuid', 'enum',
  'numeric', 'array', 'bytes', 'literal', 'other',
) // prettier-ignore

const column = record({
  name,
  /** Its name so far; absent for a new column. */
  was: Type.Optional(name),
  type: columnType,
  /** Maximum number of characters of a text. */
  length: Type.Optional(Type.Integer({ minimum: 1, maximum: 9_999_999 })),
  /** The values of an enum. */
  values: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 200 })),
  /** The digits of a decimal, and how many of them follow the point. */
  precision: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPrecision })),
  scale: Type.Optional(Type.Integer({ minimum: 0, maximum: maxPrecision })),
  null: Type.Optional(Type.Literal(true)),
  /** A constant, or `now`. */
  default: Type.Optional(Type.Unknown()),
  unique: Type.Optional(Type.Literal(true)),
  /** A table, whose key is meant, or `TABLE.COLUMN`; a map for a table of another schema. */
  references: Type.Optional(Type.Union([name, record({ table: name, column: name })])),
  on_delete: Type.Optional(oneOf('cascade', 'set null', 'set default', 'restrict')),
})

const design = record({
  name,
  columns: Type.Array(column, { maxItems: 1000 }),
  /** The primary key; empty for the column of type id. */
  key: names,
  /** Combinations of several columns. */
  unique: Type.Array(names, { maxItems: 200 }),
  index: Type.Array(names, { maxItems: 200 }),
  /** The columns in which words are found, and a text search configuration of PostgreSQL. */
  search: Type.Optional(record({ columns: names, configuration: Type.Optional(name) })),
})

const file = record({ file: text, before: maybeText, text: maybeText })

function formatFile({ file: path, before, text: after }: FileChange) {
  return { file: path, before: before ?? null, text: after ?? null }
}

const load = defineRoute({
  name: 'getDraftTable',
  summary: 'The connections that can have migrations, and a table to edit',
  method: 'GET',
  path: '/draft/table',
  scopes: ['backend.read'],
  usesDraft: true,
  query: record({ connection: name, table: Type.Optional(name) }),
  response: record({
    connections: Type.Array(record({ name: text, kind: Type.Union([oneOf('sqlite', 'postgresql'), Type.Null()]) })),
    table: Type.Union([
      record({
        design,
        /** The migration that a change amends, since it did not run or will run again. */
        amends: maybeText,
        /** The columns that can only be renamed and dropped. */
        fixed: names,
      }),
      Type.Null(),
    ]),
  }),
  async handle({ query: { connection, table }, ...call }) {
    const tables = await tablesOf(call, connection)
    const found = table === undefined ? undefined : await tables.load(connection, table)
    const kinds = Object.entries(await tables.connections()).toSorted(
      ([a], [b]) => Number(b === 'System') - Number(a === 'System'),
    )
    return {
      connections: kinds.map(([own, kind]) => ({ name: own, kind: kind ?? null })),
      table:
        found === undefined
          ? null
          : { design: formatDesign(found.design), amends: found.amends ?? null, fixed: [...found.fixed] },
    }
  },
})

function formatDesign(found: TableDesign): Static<typeof design> {
  return structuredClone(found) as Static<typeof design>
}

/** @throws WP_BACKEND_DRAFT, WP_BACKEND_DRAFT_CONNECTION */
async function tablesOf(call: Parameters<typeof draftOf>[0], connection: string): Promise<DraftTables> {
  const { tables } = draftOf(call)
  if (!Object.hasOwn(await tables.connections(), connection))
    throw errors.WP_BACKEND_DRAFT_CONNECTION({ name: connection })
  return tables
}

const texts = Type.Array(text)

const migration = defineRoute({
  name: 'changeDraftTable',
  summary: 'Creates, changes or drops a table with a declared migration; amends the last one if it has not run',
  method: 'POST',
  path: '/draft/migration',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({
    connection: name,
    /** Its current name; null for a new table. */
    table: Type.Union([name, Type.Null()]),
    /** Null drops the table. */
    design: Type.Union([design, Type.Null()]),
    /** The new columns that the actions, schemas and events of the API get too. */
    add_to_api: Type.Optional(names),
    /** Whether to write nothing. */
    preview: Type.Boolean(),
    /** Save also if the definition then has new errors. */
    with_errors: Type.Optional(Type.Boolean()),
  }),
  response: record({
    /** What happens to the migration; null if nothing changes. */
    change: Type.Union([file, Type.Null()]),
    /** The other files that change, since they name renamed or dropped columns. */
    files: Type.Array(file),
    sql: record({ sqlite: texts, postgresql: texts }),
    /** What breaks code that uses the tables before. */
    breaking: texts,
    /** What is lost when it runs. */
    losses: texts,
    /** The places that name renamed or dropped columns, or the dropped table. */
    uses: Type.Array(
      record({
        /** Null for the table. */
        column: maybeText,
        /** The new name; null if it is dropped. */
        to: maybeText,
        at: maybeText,
        source: text,
        /** Why the place is not changed or removed with it; null if it is. */
        problem: maybeText,
        /** Whether nothing is written because of it. */
        is_blocking: Type.Boolean(),
      }),
    ),
    /** The places of the API that lack new columns, or those that new rows now need. */
    additions: Type.Array(
      record({
        column: text,
        at: maybeText,
        source: text,
        /** Whether new rows need a value, so that requests without it fail. */
        is_required: Type.Boolean(),
        /** Why the column is not added there; null if it is with `add_to_api`. */
        problem: maybeText,
      }),
    ),
    /** Nothing is written if there are any. */
    problems: Type.Array(record({ pointer: text, message: text, hint: maybeText })),
    /** Null if nothing was written. */
    saved: Type.Union([draftSaved, Type.Null()]),
    /** Whether `saved.inverse` can undo it now, without losing data. */
    can_undo: Type.Boolean(),
    /** Why the migration could not run; null if it ran. */
    failed: maybeText,
  }),
  fields: { WP_BACKEND_DRAFT_CONNECTION: 'body/connection' },
  async handle({ body, ...call }) {
    const { connection, table, design: wanted, preview, with_errors: withErrors, add_to_api: addToApi = [] } = body
    const draft = draftOf(call)
    const tables = await tablesOf(call, connection)
    const request = { connection, table: table ?? undefined, design: (wanted ?? undefined) as TableDesign | undefined }
    const plan = (files: DraftFiles) => planTable(draft, files, { ...request, addToApi })
    const shown = await plan(await draft.read())
    if (preview || shown.changes.length === 0)
      return { ...formatTable(shown), saved: null, can_undo: false, failed: null }
    const done = await saveChange(draft, plan, { withErrors, by: call.principal.user })
    const { changes } = done.plan
    const saved = await respondSaved(call, done, { count: 1, inverse: invertFiles(changes) })
    const frozen = await Promise.all(
      changes.map((one) => tables.isFrozen({ ...one, text: undefined, before: one.text })),
    )
    return {
      ...formatTable(done.plan),
      saved,
      can_undo: !frozen.includes(true),
      failed: done.isServed || draft.folder === undefined ? null : await describeFailure(draft),
    }
  },
})

interface PlannedTable extends PlannedDraft {
  readonly migration: PlannedMigration
  readonly places: readonly ColumnPlace[]
  readonly uses: readonly (ColumnUse & { readonly to?: string | undefined; readonly isBlocking?: boolean })[]
}

/** Plans a migration with the edits of what names its columns. Nothing changes if there are problems. */
async function planTable(
  draft: Draft,
  files: DraftFiles,
  { addToApi, ...request }: DesignRequest & { readonly addToApi: readonly string[] },
): Promise<PlannedTable> {
  const migration = await draft.tables.plan(request)
  const { change, renamed, dropped, added, values, problems } = migration
  const { connection, table = '', design: wanted } = request
  const isUsed = renamed.size > 0 || dropped.length > 0 || added.length + values.length > 0 || wanted === undefined
  const classes = isUsed ? await loadClasses(draft) : { connections: {}, actions: {} }
  const known = { connection, table, referring: findReferring(migration.tables, table), classes }
  const named = await refuseAsProblem(() =>
    draft.thread.ask('columns', {
      ...known,
      texts: files.texts,
      renamed: [...renamed],
      dropped,
      added: { columns: added, values, known: migration.known, chosen: addToApi },
      isTableDropped: wanted === undefined,
    }),
  )
  const lost: readonly LostUse[] = named.lost
  const blocking = [
    ...Map.groupBy(
      lost.filter(({ isBlocking }) => isBlocking),
      ({ column = table }) => column,
    ),
  ]
  const all = [
    ...problems,
    ...blocking.map(([name, uses]) => ({
      pointer: '/uses',
      message: `"${name}" is used at ${uses.map(({ source }) => source).join(', ')}`,
      hint: 'Remove these uses first',
    })),
  ]
  return {
    migration: { ...migration, problems: all },
    places: named.places,
    uses: [
      ...named.uses.map((use) => ({ ...use, to: renamed.get(use.column!) })),
      ...lost,
      ...migration.code.map(({ column, source }) => ({
        column,
        to: renamed.get(column ?? ''),
        at: undefined,
        source,
        problem: 'Code is not changed automatically',
        isGuess: true,
        isBlocking: false,
      })),
    ],
    changes: change === undefined || all.length > 0 ? [] : [change, ...listEdited(files, named.files)],
    tables: { [connection]: migration.tables },
  }
}

function formatTable({ migration, uses, places, changes }: PlannedTable) {
  const { change, sql, breaking, losses, added, problems } = migration
  return {
    change: change === undefined ? null : formatFile(change),
    files: changes.filter((one) => one !== change).map(formatFile),
    sql,
    breaking,
    losses,
    uses: uses.map(({ column = null, to = null, at = null, source, problem = null, isBlocking = false }) => ({
      column,
      to,
      at,
      source,
      problem,
      is_blocking: isBlocking,
    })),
    additions: places.map(({ column, at = null, source, problem = null }) => ({
      column,
      at,
      source,
      is_required: added.some(({ name: own, isRequired }) => own === column && isRequired),
      problem,
    })),
    problems: problems.map(({ hint = null, ...problem }) => ({ ...problem, hint })),
  }
}

async function describeFailure(draft: Draft): Promise<string> {
  const { problem, diagnostics } = await draft.status()
  return problem?.message ?? diagnostics.find(({ severity }) => severity === 'error')?.message ?? ''
}

const api = defineRoute({
  name: 'addDraftTableApi',
  summary: 'Adds an action of the class sql-table for a table, its routes, scopes and event',
  method: 'POST',
  path: '/draft/table-api',
  scopes: ['backend.write'],
  usesDraft: true,
  body: record({
    connection: name,
    table: name,
    path: name,
    methods: Type.Array(
      record({
        method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
        at: oneOf('list', 'row'),
        public: Type.Boolean(),
        /** A token needs one of these; empty for any valid token. */
        scopes: names,
      }),
      { maxItems: 6 },
    ),
    /** The column with the id of the user to whom a row belongs, or that refers to a row with an owner. */
    owner: Type.Optional(name),
    /** The columns that may refer to rows of all users. */
    open_parents: Type.Optional(Type.Array(name, { maxItems: 100 })),
    /** The column that DELETE changes instead of removing the row. */
    soft_delete: Type.Optional(name),
    /** The event that POST dispatches; subscribers need one of the scopes. By default those of POST, or a new one if rows have an owner. */
    event: Type.Optional(record({ name, description: name, scopes: Type.Optional(names) })),
    /** Descriptions of scopes to add. */
    new_scopes: Type.Array(record({ name, description: name }), { maxItems: 20 }),
    /** Whether to write nothing. */
    preview: Type.Boolean(),
  }),
  response: record({
    action: text,
    methods: texts,
    files: Type.Array(file),
    warnings: texts,
    /** The columns of the index that the list needs and that the table lacks. */
    index: Type.Union([names, Type.Null()]),
    /** The references to rows that have an owner. */
    parents: Type.Array(
      record({
        column: text,
        table: text,
        /** A method that serves its rows with their owner. */
        method: text,
        /** Why rows cannot belong to the owner of the row that they refer to; null if they can. */
        problem: maybeText,
      }),
    ),
    /** Null if nothing was written. */
    saved: Type.Union([draftSaved, Type.Null()]),
    /** Why the routes are not served; null if they are. */
    failed: maybeText,
  }),
  fields: { WP_BACKEND_DRAFT_CONNECTION: 'body/connection' },
  async handle({ body, ...call }) {
    const { connection, table, path, methods, owner, soft_delete: column, event, new_scopes: scopes, preview } = body
    const draft = draftOf(call)
    const tables = await tablesOf(call, connection)
    const request: TableRequest = {
      connection,
      table,
      path,
      methods: methods.map(({ method, at, public: isPublic, scopes: own }) => ({
        method,
        at,
        access: isPublic ? ('public' as const) : own,
      })),
      owner,
      openParents: body.open_parents,
      softDelete: column === undefined ? undefined : { column },
      event,
      newScopes: Object.fromEntries(scopes.map((one) => [one.name, one.description])),
    }
    if (preview) return { ...formatApi(await tables.planApi(request)), saved: null, failed: null }
    const done = await saveChange(draft, () => tables.planApi(request), { by: call.principal.user })
    const saved = await respondSaved(call, done, { count: 1, inverse: invertFiles(done.plan.changes) })
    return {
      ...formatApi(done.plan),
      saved,
      failed: done.isServed || draft.folder === undefined ? null : await describeFailure(draft),
    }
  },
})

function formatApi({ action, methods, changes, warnings, index, parents }: PlannedTableApi) {
  return {
    action,
    methods,
    files: changes.map(formatFile),
    warnings: warnings.map(({ message, hint }) => (hint === undefined ? message : `${message}. ${hint}`)),
    index: index === undefined ? null : [...index],
    parents: parents.map(({ problem = null, ...parent }) => ({ ...parent, problem })),
  }
}

export const draftTableRoutes = [load, migration, api] as const
