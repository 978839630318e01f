import {
  GenerateBroken,
  GenerateRefused,
  kindsOfConnections,
  planTableApi,
  type ConnectionKinds,
  type LoadedTexts,
  type TableRequest,
} from '../../../build/index.ts'
import type { TablesSnapshot } from '../../../contract/index.ts'
import { errors } from '../../errors.ts'
import type { FileChange } from '../file-change.ts'
import { DraftBroken } from '../draft-broken.ts'
import type { DesignedTable, DesignRequest, PlannedMigration, PlannedTableApi } from '../draft-tables.ts'
import { TablePlanner } from '../table-planner.ts'
import { openTexts, type CodedTexts, type TaskContext } from './task-context.ts'

export interface TableTask extends CodedTexts {
  /** The migrations that have run, by connection, with the checksums of their texts; none if these are unknown. */
  readonly ran: Readonly<Record<string, readonly (readonly [name: string, checksums: readonly string[]])[]>>
  /** The current time, in milliseconds since 1970. */
  readonly now: number
}

/** The work on the tables of a server's draft. */
export const tableTasks = {
  async connections(context: TaskContext, draft: CodedTexts): Promise<ConnectionKinds> {
    return findKinds(await context.load(draft))
  },

  table(
    context: TaskContext,
    { connection, table, ...task }: TableTask & { readonly connection: string; readonly table: string },
  ): Promise<DesignedTable | undefined> {
    return openPlanner(context, task).load(connection, table)
  },

  planTable(
    context: TaskContext,
    { request, ...task }: TableTask & { readonly request: DesignRequest },
  ): Promise<PlannedMigration> {
    return openPlanner(context, task).plan(request)
  },

  planTableApi(
    context: TaskContext,
    { request, ...task }: TableTask & { readonly request: TableRequest },
  ): Promise<PlannedTableApi> {
    return openPlanner(context, task).planApi(request)
  },

  tablesAfter(
    context: TaskContext,
    { changes, ...task }: TableTask & { readonly changes: readonly FileChange[] },
  ): Promise<Readonly<Record<string, TablesSnapshot>>> {
    return openPlanner(context, task).loadAfter(changes)
  },

  isFrozen(context: TaskContext, { change, ...task }: TableTask & { readonly change: FileChange }): Promise<boolean> {
    return openPlanner(context, task).isFrozen(change)
  },
}

function openPlanner(context: TaskContext, { ran, now, ...draft }: TableTask): TablePlanner {
  const findRan = (connection: string) => new Map(Object.hasOwn(ran, connection) ? ran[connection] : [])
  return new TablePlanner({
    clock: { now: () => now },
    kinds: async () => findKinds(await context.load(draft)),
    openMigrations: async () => (await context.load(draft)).migrations,
    readText: async (file) => draft.texts.get(file) ?? '',
    listRan: async (connection) => [...findRan(connection).keys()],
    async findState(connection, name, checksum) {
      const texts = findRan(connection).get(name)
      if (texts === undefined) return 'pending'
      return checksum === undefined || texts.length === 0 || texts.includes(checksum) ? 'applied' : 'pending'
    },
    findCode: () => [],
    planApi: (request) => planApi(context, draft, request),
  })
}

function findKinds({ definition, partial = definition, plugins }: LoadedTexts): ConnectionKinds {
  if (partial === undefined) return { System: undefined }
  const kinds = kindsOfConnections(partial, plugins)
  return Object.fromEntries(Object.entries(kinds).filter(([name, kind]) => kind !== undefined || name === 'System'))
}

async function planApi(context: TaskContext, draft: CodedTexts, request: TableRequest): Promise<PlannedTableApi> {
  const { texts, release } = draft
  const loaded = await context.load(draft)
  const { definition, diagnostics, migrations } = loaded
  if (definition === undefined) throw new DraftBroken(diagnostics)
  try {
    const plan = await planTableApi(
      {
        editing: openTexts(context, texts),
        diagnostics,
        kinds: findKinds(loaded),
        migrations,
        load: (after) => context.load({ texts: after, release }),
      },
      request,
    )
    const { action, methods, index, warnings, parents } = plan
    const changes = [...plan.texts].flatMap(([file, text]): readonly FileChange[] => {
      const before = texts.get(file)
      return before === text || (before === undefined && text === '') ? [] : [{ file, text, before }]
    })
    return { action, methods, index, warnings, parents, changes }
  } catch (error) {
    if (error instanceof GenerateBroken) throw new DraftBroken(error.diagnostics)
    throw error instanceof GenerateRefused ? errors.WP_BACKEND_DRAFT_GENERATE(error) : error
  }
}
