import { findUnheldScopes } from '../../auth/index.ts'
import { variable, type Variables } from '../../kit/index.ts'
import {
  activateRelease,
  findActiveFileList,
  findMissingVariables,
  findOlderServers,
  hashFileList,
  hashFiles,
  isChangedSinceGit,
  listFileVersions,
  listLiveServers,
  loadActiveId,
  loadActiveRelease,
  loadPublishedFiles,
  neededScopes,
  releaseId,
  requiredVariables,
  rollBack,
  type MissingVariable,
  type Manifest,
} from '../../release/index.ts'
import {
  checkIdentity,
  checkReleaseActions,
  loadReleasePlugins,
  migrateRelease,
  nameOfMigration,
  openHost,
  openIdentity,
  surveyMigrations,
  variablesOfConnections,
  withSystemVariables,
  type Host,
} from '../../host/index.ts'
import { countDayCalls, surveyRollback } from '../../operate/index.ts'
import { storeFact } from '../../store/index.ts'
import type { DeployTarget } from './target.ts'

/**
 * Opens the System of the environment to deploy to it directly.
 * @throws the errors of `openHost`
 */
export async function openSystemTarget(options: {
  readonly folder: string
  readonly variables: Variables
}): Promise<DeployTarget> {
  const opened = await openHost(options)
  const { system } = opened
  /** Reads a variable from System only if a connection needs it, so that a plan needs no secret otherwise. */
  const withConnections = (manifest: Manifest) => withSystemVariables(opened, variablesOfConnections(manifest))
  return {
    address: system.target,
    flags: [],
    listServers: () => listLiveServers(system),
    loadActiveId: () => loadActiveId(system),
    async loadFiles(of) {
      if (of === 'release') return loadPublishedFiles(system)
      const { SystemDraft } = await import('../../backend/index.ts')
      return new SystemDraft(opened, () => '').loadPublishedFiles()
    },
    listFileVersions: () => listFileVersions(system),
    assertDeployable: () => checkIdentity(opened),
    async survey({ release, files }) {
      const { manifest } = release
      const host = await withConnections(manifest)
      const plugins = await loadReleasePlugins(host, release)
      const id = releaseId(release.manifest)
      const active = await loadActiveRelease(system, { id, manifest })
      const { pending, dropped } = await surveyMigrations({
        host,
        release,
        plugins,
        active: active?.manifest,
        mayOpen: true,
      })
      const unready = new Set(pending.map(({ connection }) => connection))
      const isActive = active?.id === id
      return {
        id,
        active,
        filesChanged: isActive && (await findActiveFileList(system)) !== hashFileList(hashFiles(files)),
        changedSinceGit: await isChangedSinceGit(system),
        missingArtifacts: [],
        unheldScopes: await findUnheldScopes(system, neededScopes(manifest)),
        missingVariables: await findMissing(host, manifest),
        olderServers: await findOlderServers(system, manifest),
        pendingMigrations: pending.map(nameOfMigration),
        droppedMigrations: dropped.map(nameOfMigration),
        calls: isActive ? {} : await countDayCalls(system),
        failingActions: isActive ? [] : await checkReleaseActions({ host, release, plugins, unready }),
      }
    },
    upload: async () => undefined,
    async migrate({ release }, listener) {
      const host = await withConnections(release.manifest)
      return migrateRelease({ host, release, plugins: await loadReleasePlugins(host, release), ...listener })
    },
    async activate(release, { allowBreaking: _, acceptAccess: _accepted, ...activation }) {
      await openIdentity(opened)
      await storeFact(system, 'origin', 'production')
      return activateRelease(system, release, { ...activation, actor: { how: 'command', name: activation.by } })
    },
    surveyRollback: (beginning) => surveyRollback(opened, beginning),
    async rollBack(id, { keepDraft, allowBreaking: _, ...given }) {
      const options = { ...given, actor: { how: 'command', name: given.by } } as const
      if (!keepDraft) return rollBack(system, id, options)
      const { rollBackToDraft } = await import('../../backend/index.ts')
      return rollBackToDraft(system, id, { ...options, author: { id: null, name: given.by } })
    },
    close: () => opened.close(),
  }
}

/**
 * An embedded System is served from this folder on this machine, so its environment is checked even without a running
 * server.
 */
async function findMissing(host: Host, manifest: Manifest): Promise<readonly MissingVariable[]> {
  const names = requiredVariables(manifest)
  const missing = await findMissingVariables(host.system, names)
  if (!host.isEmbedded || (await listLiveServers(host.system)).length > 0) return missing
  const unset = names.filter((name) => variable(host.environment, name) === undefined)
  const shared = await host.system.db.selectFrom('waypost_variable').select('id').execute()
  return unset.filter((name) => !shared.some(({ id }) => id === name)).map((name) => ({ name, servers: [] }))
}
