import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { ClassCatalog, OverwrittenPlace, Versions } from '../../definition/index.ts'
import { WaypostError, version } from '../../kit/index.ts'
import {
  assertServable,
  findIntact,
  type ActiveRow,
  type Artifact,
  type FileHashes,
  type releaseErrors,
} from '../../release/index.ts'
import { errors } from '../errors.ts'
import { BodyThread, type RunTask } from './body-thread.ts'
import type { SerializedError, ReadResult, ReadTask, SentManifest } from './body-worker.ts'
import { ArtifactsBody, assertProtocol } from './protocol.ts'
import { UnparsedBody } from './read-bodies.ts'

/** Reads the bodies of deployments in threads. */
export interface ReleaseReader {
  /** Compares definition files for a request. */
  listOverwritten(request: FastifyRequest): ListOverwritten
  /** Reads a body without a manifest. @throws WP_BACKEND_BODY and other errors of bodies */
  plain<Body extends TSchema>(request: FastifyRequest, schema: Body): Promise<Static<Body>>
  /**
   * Reads a body with a manifest, and compares it with the active release unless that is damaged.
   * @throws WP_BACKEND_MANIFEST, WP_BACKEND_OLDER, WP_BACKEND_BODY and other errors of bodies
   */
  manifest<Body extends TSchema>(
    request: FastifyRequest,
    schema: Body,
    active: ActiveRow | undefined,
  ): Promise<{ readonly body: Static<Body>; readonly manifest: SentManifest; readonly files?: FileHashes | undefined }>
  /**
   * Passes on artifacts after checking all of them.
   * @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_BODY and other errors of bodies
   */
  artifacts<Result>(request: FastifyRequest, keep: (sent: SentArtifacts) => Promise<Result>): Promise<Result>
}

/** Lists what changed in the definition files in the backend and would be undone. @throws WP_DEFINITION_EDIT_REFUSED */
export type ListOverwritten = (versions: Versions) => Promise<readonly OverwrittenPlace[]>

export interface SentArtifacts {
  readonly count: number
  /** Total size in bytes. */
  readonly bytes: number
  /** In batches, because all together may be large. */
  readonly each: AsyncIterable<readonly Artifact[]>
}

/** Opens the reader of a server. @param classes of its plugins */
export function openReleaseReader(classes: ClassCatalog): ReleaseReader {
  // Separate threads, so that clients that may only read do not delay deployments.
  const threads = { reading: new BodyThread(classes), deploying: new BodyThread(classes) }
  const use = async <Result>(request: FastifyRequest, work: (ask: RunTask) => Promise<Result>): Promise<Result> => {
    const { client, scopes } = request.principal!
    const { socket } = request.raw
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    if (socket.destroyed) leave()
    socket.once('close', leave)
    try {
      const thread = threads[scopes.includes('backend.deploy') ? 'deploying' : 'reading']
      return await thread.use(work, { client: client.id, signal: leaving.signal })
    } finally {
      socket.off('close', leave)
    }
  }

  return {
    listOverwritten: (request) => (versions) =>
      use(request, async (ask) => {
        const { overwritten = [], failure } = await ask({ versions })
        if (failure !== undefined) throw deserializeError(failure)
        return overwritten
      }),
    plain: (request, schema) =>
      use(request, async (ask) => (await read(request, schema, { ask, content: 'neither' })).body),
    manifest: (request, schema, row) =>
      use(request, async (ask) => {
        const active = row === undefined ? undefined : findIntact(row)
        const { body, manifest, files } = await read(request, schema, { ask, content: 'manifest', active })
        assertNotNewer(manifest!)
        return { body, manifest: manifest!, files }
      }),
    artifacts: (request, keep) =>
      use(request, async (ask) => {
        const { body, bytes = 0 } = await read(request, ArtifactsBody, { ask, content: 'artifacts' })
        return keep({ count: body.artifacts.length, bytes, each: nextArtifacts(ask) })
      }),
  }
}

interface ReadOptions extends Pick<ReadTask, 'content' | 'active'> {
  readonly ask: RunTask
}

async function read<Body extends TSchema>(
  request: FastifyRequest,
  schema: Body,
  { ask, ...task }: ReadOptions,
): Promise<ReadResult & { readonly body: Static<Body> }> {
  const { body: sent } = request
  if (!(sent instanceof UnparsedBody))
    throw findSchemaError(request, schema, sent) ?? errors.WP_BACKEND_BODY({ reason: 'it is empty' })
  const { isCompressed } = sent
  const result = await ask({
    bytes: toTransferable(sent),
    isCompressed,
    limit: request.routeOptions.bodyLimit,
    ...task,
  })
  const { body, failure } = result
  if (body === undefined && failure !== undefined) throw deserializeError(failure)
  const problem = findSchemaError(request, schema, body)
  if (problem !== undefined) throw problem
  assertProtocol(body as { readonly protocol: number })
  if (failure !== undefined) throw deserializeError(failure)
  return { ...result, body: body as Static<Body> }
}

async function* nextArtifacts(ask: RunTask): AsyncIterable<readonly Artifact[]> {
  for (;;) {
    const { artifacts } = await ask('next')
    if (artifacts.length === 0) return
    yield artifacts
  }
}

/**
 * Returns the bytes in a buffer of their own, because small buffers share memory with others and cannot be transferred.
 */
function toTransferable({ bytes }: UnparsedBody): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** Returns the error that Fastify throws for a body that does not match its schema. */
function findSchemaError(request: FastifyRequest, schema: TSchema, body: unknown): Error | undefined {
  const check = request.compileValidationSchema(schema, 'body')
  if (check(body)) return undefined
  const { errors: validation } = check
  return Object.assign(new Error('The body does not have the expected structure'), {
    validation,
    validationContext: 'body',
    statusCode: 400,
  })
}

function deserializeError({ code, ...row }: SerializedError): Error {
  return new WaypostError(code, row)
}

function assertNotNewer({ waypost: built }: SentManifest): void {
  try {
    assertServable({ waypost: built })
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== newerCode) throw cause
    throw errors.WP_BACKEND_OLDER({ built, own: version }, { cause })
  }
}

const newerCode: keyof typeof releaseErrors.table = 'WP_RELEASE_NEWER'
