import type { Variables } from '../../kit/index.ts'
import {
  activateRelease,
  findActiveFileList,
  hashFileList,
  hashFiles,
  isChangedSinceGit,
  listFileVersions,
  listLiveServers,
  loadActiveId,
  loadActiveRelease,
  loadPublishedFiles,
  outlineRelease,
  releaseId,
  rollBack,
  withoutCode,
  withoutManifest,
  type Manifest,
} from '../../release/index.ts'
import {
  checkIdentity,
  loadReleasePlugins,
  migrateRelease,
  openHost,
  openIdentity,
  variablesOfConnections,
  withSystemVariables,
} from '../../host/index.ts'
import { surveyRelease, surveyRollback } from '../../operate/index.ts'
import { loadFacts, storeFact } from '../../store/index.ts'
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
      const outline = outlineRelease(id, manifest, active?.manifest)
      const survey = await surveyRelease({ host, release: outline, active, plugins, mayOpen: true })
      const { origin } = await loadFacts(system)
      const isOfDev = active !== undefined && active.id !== id && origin === 'development'
      return {
        ...survey,
        ...(isOfDev && { changes: withoutCode(survey.changes), builtByDev: true }),
        active: active && withoutManifest(active),
        filesChanged: active?.id === id && (await findActiveFileList(system)) !== hashFileList(hashFiles(files)),
        changedSinceGit: await isChangedSinceGit(system),
        missingArtifacts: [],
      }
    },
    upload: async () => undefined,
    async migrate({ release }, listener) {
      const host = await withConnections(release.manifest)
      return migrateRelease({ host, release, plugins: await loadReleasePlugins(host, release), ...listener })
    },
    async activate(release, options) {
      const {
        allowBreaking: _,
        allowMissing: _missing,
        acceptAccess: _accepted,
        overwriteBackend: _undone,
        ...given
      } = options
      await openIdentity(opened)
      await storeFact(system, 'origin', 'production')
      return activateRelease(system, release, { ...given, actor: { how: 'command', name: given.by } })
    },
    surveyRollback: (beginning) => surveyRollback(opened, beginning),
    async rollBack(id, { keepDraft, allowBreaking: _, allowMissing: _missing, ...given }) {
      const options = { ...given, actor: { how: 'command', name: given.by } } as const
      if (!keepDraft) return rollBack(system, id, options)
      const { rollBackToDraft } = await import('../../backend/index.ts')
      return rollBackToDraft(system, id, { ...options, author: { id: null, name: given.by } })
    },
    close: () => opened.close(),
  }
}
