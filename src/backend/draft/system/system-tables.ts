import {
  GenerateBroken,
  GenerateRefused,
  kindsOfConnections,
  planTableApi,
  type ConnectionKinds,
  type LoadedTexts,
  type TableRequest,
} from '../../../build/index.ts'
import type { Texts } from '../../../definition/index.ts'
import type { Host } from '../../../host/index.ts'
import { loadManifest, type ManifestMigration } from '../../../release/index.ts'
import { planMigrations } from '../../../store/index.ts'
import { errors } from '../../errors.ts'
import { listPublishedMigrations } from '../../publish/publications.ts'
import type { DraftFiles, FileChange } from '../draft.ts'
import type { PlannedTableApi } from '../draft-tables.ts'
import { DraftBroken } from '../save-changes.ts'
import { TablePlanner } from '../table-planner.ts'

interface LoadableDraft {
  read(): Promise<DraftFiles>
  load(texts: Texts): Promise<LoadedTexts>
}

/** Plans changes of the tables of a server's draft. */
export function makeSystemTables(host: Host, draft: LoadableDraft): TablePlanner {
  const load = async () => draft.load((await draft.read()).texts)
  /** The migrations of each release, which never change. */
  const known = new Map<string, readonly ManifestMigration[]>()
  const findRan = (connection: string) =>
    connection === 'System' ? findRanInSystem(host) : findRanElsewhere(host, known, connection)
  return new TablePlanner({
    clock: host.clock,
    kinds: async () => findKinds(await load()),
    openMigrations: async () => (await load()).migrations,
    readText: async (file) => (await draft.read()).texts.get(file) ?? '',
    listRan: async (connection) => [...(await findRan(connection)).keys()],
    async findState(connection, name, checksum) {
      const texts = (await findRan(connection)).get(name)
      if (texts === undefined) return 'pending'
      return checksum === undefined || texts.size === 0 || texts.has(checksum) ? 'applied' : 'pending'
    },
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

async function planApi(draft: LoadableDraft, request: TableRequest): Promise<PlannedTableApi> {
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

/** The names of migrations that have run, with the checksums of their texts, or an empty set if these are unknown. */
type RanMigrations = ReadonlyMap<string, ReadonlySet<string>>

async function findRanInSystem({ system }: Host): Promise<RanMigrations> {
  const { applied } = await planMigrations(system.db, [])
  return new Map(applied.map(({ name, checksum }) => [name, new Set([checksum])]))
}

/** Opens no connection: the migrations of activated releases have run, and publications record the ones that they ran. */
async function findRanElsewhere(
  { system }: Host,
  known: Map<string, readonly ManifestMigration[]>,
  connection: string,
): Promise<RanMigrations> {
  const ran = new Map<string, Set<string>>()
  const releases = await system.db.selectFrom('waypost_release').select('id').execute()
  for (const { id } of releases) {
    const migrations = known.get(id) ?? (await loadManifest(system, id)).migrations
    known.set(id, migrations)
    for (const one of migrations)
      if (one.connection === connection) ran.set(one.name, (ran.get(one.name) ?? new Set()).add(one.checksum))
  }
  for (const name of await listPublishedMigrations(system, connection)) if (!ran.has(name)) ran.set(name, new Set())
  return ran
}
