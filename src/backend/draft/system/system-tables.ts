import {
  GenerateBroken,
  GenerateRefused,
  kindsOfConnections,
  planTableApi,
  type ConnectionKinds,
  type LoadedTexts,
} from '../../../build/index.ts'
import type { Texts } from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { loadManifest, type ManifestMigration } from '../../../release/index.ts'
import { planMigrations } from '../../../store/index.ts'
import { errors } from '../../errors.ts'
import type { DraftFiles, FileChange } from '../draft.ts'
import type { PlannedTableApi, TableApiRequest } from '../draft-tables.ts'
import { DraftBroken } from '../save-changes.ts'
import { TablePlanner } from '../table-planner.ts'

interface LoadableDraft {
  read(): Promise<DraftFiles>
  load(texts: Texts): Promise<LoadedTexts>
}

/** Plans changes of the tables of a server's draft. */
export function makeSystemTables(host: Host, draft: LoadableDraft): TablePlanner {
  const load = async () => draft.load((await draft.read()).texts)
  /** The migrations of releases, which do not change. */
  const known = new Map<string, ReadonlySet<string>>()
  const hasRun = async (connection: string, name: string) =>
    connection === 'System'
      ? (await planMigrations(host.system.db, [])).applied.some((row) => row.name === name)
      : hasRunElsewhere(host, known, `${connection}/${name}`)
  return new TablePlanner({
    clock: host.clock,
    kinds: async () => findKinds(await load()),
    openMigrations: async () => (await load()).migrations,
    readText: async (file) => (await draft.read()).texts.get(file) ?? '',
    findState: async (connection, name) => ((await hasRun(connection, name)) ? 'applied' : 'pending'),
    findCode: () => [],
    planApi: (request) => planApi(draft, request),
  })
}

function findKinds({ definition, partial = definition, plugins }: LoadedTexts): ConnectionKinds {
  if (partial === undefined) return { System: undefined }
  const kinds = kindsOfConnections(
    partial,
    plugins.map((manifest) => ({ manifest })),
  )
  return Object.fromEntries(Object.entries(kinds).filter(([name, kind]) => kind !== undefined || name === 'System'))
}

async function planApi(draft: LoadableDraft, request: TableApiRequest): Promise<PlannedTableApi> {
  const { texts, editing } = await draft.read()
  const loaded = await draft.load(texts)
  const { definition, diagnostics, migrations } = loaded
  if (definition === undefined) throw new DraftBroken(diagnostics)
  try {
    const plan = await planTableApi(
      {
        editing,
        diagnostics,
        kinds: findKinds(loaded),
        migrations,
        load: (after) => draft.load(after),
      },
      request,
    )
    const { action, methods, index, warnings } = plan
    const changes = [...plan.texts].flatMap(([file, text]): readonly FileChange[] => {
      const before = texts.get(file)
      return before === text || (before === undefined && text === '') ? [] : [{ file, text, before }]
    })
    return { action, methods, index, warnings, changes }
  } catch (error) {
    if (error instanceof GenerateBroken) throw new DraftBroken(error.diagnostics)
    throw error instanceof GenerateRefused ? errors.WP_BACKEND_DRAFT_GENERATE(error) : error
  }
}

/** Opens no connection: releases are activated after their migrations, and publications record those that ran. */
async function hasRunElsewhere(
  { system }: Host,
  known: Map<string, ReadonlySet<string>>,
  name: string,
): Promise<boolean> {
  const published = await system.db
    .selectFrom('waypost_publish')
    .select('id')
    .where('detail', 'like', `%"${name}"%`)
    .executeTakeFirst()
  if (published !== undefined) return true
  const releases = await system.db.selectFrom('waypost_release').select('id').execute()
  for (const { id } of releases) {
    const names = known.get(id) ?? new Set((await loadManifest(system, id)).migrations.map(nameMigrationOf))
    known.set(id, names)
    if (names.has(name)) return true
  }
  return false
}

function nameMigrationOf({ connection, name }: ManifestMigration): string {
  return `${connection}/${name}`
}
