import type {
  AccessResponse,
  ActivateResponse,
  ActivateRequest,
  FilesResponse,
  MigrateResponse,
  MigrateRequest,
  ServersResponse,
  SurveyResponse,
  SurveyRequest,
  VersionsResponse,
} from '../../../backend/index.ts'
import { isWaypostError, type Variables } from '../../../kit/index.ts'
import { hashFiles, type DefinitionFile, type FileHashes, type PublishedFiles } from '../../../release/index.ts'
import type { DeployTarget } from '../target.ts'
import {
  assertResponse,
  isFiles,
  isHashes,
  isId,
  isMigrated,
  isServers,
  isSurvey,
  printableServer,
  printable,
} from './check-response.ts'
import { activateTimeoutMs, makeReleaseClient } from './client.ts'
import { openAccess } from './credentials.ts'
import { remoteRollback } from './remote-rollback.ts'
import { errors } from './errors.ts'
import { makeUploader } from './upload-artifacts.ts'

export interface RemoteTargetOptions {
  readonly url: string
  readonly variables: Variables
}

/** A migration may rewrite a large table. */
const migrateTimeoutMs = 3_600_000

/**
 * Opens a running server as the target of a deployment, with the credentials of the environment.
 * @throws WP_PROJECT_REMOTE_URL, WP_PROJECT_REMOTE_CREDENTIALS, WP_PROJECT_REMOTE_CLIENT and errors of the server
 */
export async function openRemoteTarget({ url, variables }: RemoteTargetOptions): Promise<DeployTarget> {
  const server = parseServerUrl(url)
  const { releasePaths: paths, releaseProtocol: protocol } = await import('../../../backend/index.ts')
  const access = await openAccess(server, variables)
  const client = makeReleaseClient({ server, access })
  const own = { server, protocol }

  const { upload, uploadAll } = makeUploader((artifacts) => client.post(paths.artifacts, { protocol, artifacts }))

  return {
    address: server,
    flags: ['--url', server],
    async listServers() {
      const { servers } = assertResponse(own, await client.get<ServersResponse>(paths.servers), isServers)
      return servers.map(printableServer)
    },
    async loadActiveId() {
      return assertResponse(own, await client.get<ServersResponse>(paths.servers), isServers).active ?? undefined
    },
    async loadFiles(of) {
      const path = of === 'release' ? paths.files : paths.draft
      return toPublished(assertResponse(own, await client.get<FilesResponse>(path), isFiles))
    },
    async listFileVersions() {
      const response = await client.get<VersionsResponse>(paths.versions)
      return assertResponse(own, response, ({ versions }: VersionsResponse) => versions.every(isHashes)).versions
    },
    async assertDeployable() {
      const isSupported = (response: AccessResponse) => response.protocol === protocol
      assertResponse(own, await client.get<AccessResponse>(paths.access), isSupported)
    },
    async survey({ release, files }) {
      const request: SurveyRequest = { protocol, manifest: release.manifest, files: hashFiles(files) }
      const response = assertResponse(own, await client.post<SurveyResponse>(paths.survey, request), isSurvey)
      const failingActions = response.failingActions.map((one) => ({ ...one, message: printable(one.message) }))
      return { ...response, active: response.active ?? undefined, failingActions }
    },
    upload,
    async migrate({ release }, { onApplied, signal }) {
      const request: MigrateRequest = { protocol, manifest: release.manifest }
      const migrate = () =>
        client.post<MigrateResponse>(paths.migrations, request, { timeoutMs: migrateTimeoutMs, signal })
      const { applied } = assertResponse(
        own,
        await untilStopped(
          retryAfterUpload(migrate, () => uploadAll({ release, files: [] })),
          { server, signal },
        ),
        isMigrated,
      )
      for (const one of applied) onApplied?.(one)
      return applied
    },
    async activate(release, { message, against, files = [], commit, kind, ...allowed }) {
      const request: ActivateRequest = {
        protocol,
        manifest: release.manifest,
        ...(files.length === 0 ? {} : { files: hashFiles(files) }),
        ...(commit === undefined ? {} : { commit }),
        ...(kind === 'backend' ? { kind } : {}),
        ...(message === undefined ? {} : { message: printable(message, 500) }),
        ...(against === undefined ? {} : { against }),
        ...(allowed.allowBreaking === true ? { allow_breaking: true } : {}),
        ...(allowed.allowMissing === true ? { allow_missing: true } : {}),
        ...(allowed.acceptAccess === true ? { accept_access: true } : {}),
        ...(allowed.overwriteBackend === true ? { overwrite_backend: true } : {}),
      }
      const activate = () => client.post<ActivateResponse>(paths.releases, request, { timeoutMs: activateTimeoutMs })
      const response = await retryAfterUpload(activate, () => uploadAll({ release, files }))
      return assertResponse(
        own,
        response,
        ({ id, recorded }: ActivateResponse) => isId(id) && typeof recorded === 'boolean',
      )
    },
    ...remoteRollback({ client, own, paths }),
    close: () => access.close(),
  }
}

/** Only used after `isFiles`. */
export function toPublished({ active, inGit, contents }: FilesResponse): PublishedFiles | undefined {
  if (active === null) return undefined
  const load = (files: FileHashes): readonly DefinitionFile[] =>
    Object.entries(files).map(([path, hash]) => ({ path, content: contents[hash]! }))
  return {
    id: active.id ?? undefined,
    files: load(active.files),
    inGit: inGit === null ? undefined : { commit: inGit.commit ?? undefined, files: load(inGit.files) },
  }
}

/** Uploads and retries once, because artifacts may have been pruned or damaged since the check. */
async function retryAfterUpload<Body>(work: () => Promise<Body>, upload: () => Promise<unknown>): Promise<Body> {
  try {
    return await work()
  } catch (error) {
    if (!isWaypostError(error) || error.code !== 'WP_BACKEND_ARTIFACTS_MISSING') throw error
    await upload()
    return work()
  }
}

/**
 * Returns the URL of a server, without a trailing slash. It must be https or on this machine, because credentials are
 * sent to it.
 * @throws WP_PROJECT_REMOTE_URL
 */
export function parseServerUrl(text: string): string {
  const url = URL.parse(text)
  const refuse = (reason: string) => errors.WP_PROJECT_REMOTE_URL({ url: withoutSecrets(text, url), reason })
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) throw refuse('it is not an https URL')
  if (url.username !== '' || url.password !== '') throw refuse('it must not contain credentials')
  if (url.search !== '' || url.hash !== '') throw refuse('it has a query or a fragment')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw refuse('credentials are only sent over https, except to this machine')
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}

function withoutSecrets(text: string, url: URL | null): string {
  if (url === null) return text.slice(0, 200)
  return Object.assign(new URL(url), { username: '', password: '', search: '', hash: '' }).href
}

/** The server runs a request to its end, whether a client waits for it or not. */
async function untilStopped<Body>(
  response: Promise<Body>,
  { server, signal }: { readonly server: string; readonly signal: AbortSignal | undefined },
): Promise<Body> {
  if (signal === undefined) return response
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(errors.WP_PROJECT_REMOTE_MIGRATING({ server }))
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([response, stopped.promise])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
