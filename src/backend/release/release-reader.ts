import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import type { ClassCatalog } from '../../definition/index.ts'
import { WaypostError, version } from '../../kit/index.ts'
import { assertServable, type Artifact, type releaseErrors } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { BodyThread, type Ask } from './body-thread.ts'
import type { CarriedError, ReadResult, ReadTask, SentManifest } from './body-worker.ts'
import { ArtifactsBody, assertProtocol } from './protocol.ts'
import { PackedBody } from './read-bodies.ts'

/** Reads what is sent for a deployment, in threads. */
export interface ReleaseReader {
  /** @throws WP_BACKEND_BODY and others of bodies */
  plain<Body extends TSchema>(request: FastifyRequest, schema: Body): Promise<Static<Body>>
  /**
   * @param active the text of the active release's manifest
   * @throws WP_BACKEND_MANIFEST, WP_BACKEND_OLDER, WP_BACKEND_BODY and others of bodies
   */
  manifest<Body extends TSchema>(
    request: FastifyRequest,
    schema: Body,
    active?: string,
  ): Promise<{ readonly body: Static<Body>; readonly manifest: SentManifest }>
  /**
   * Hands over artifacts once all of them are found to be sound.
   * @throws WP_BACKEND_ARTIFACT_HASH, WP_BACKEND_ARTIFACT_SIZE, WP_BACKEND_BODY and others of bodies
   */
  artifacts<Result>(request: FastifyRequest, keep: (sent: SentArtifacts) => Promise<Result>): Promise<Result>
}

export interface SentArtifacts {
  readonly count: number
  /** Of all together. */
  readonly bytes: number
  /** Some at a time: all together may be large. */
  readonly each: AsyncIterable<readonly Artifact[]>
}

/** Opens the reader of a server with these classes. */
export function openReleaseReader(classes: ClassCatalog): ReleaseReader {
  // A client that may only read does not delay deployments.
  const threads = { looking: new BodyThread(classes), deploying: new BodyThread(classes) }
  const use = async <Result>(request: FastifyRequest, work: (ask: Ask) => Promise<Result>): Promise<Result> => {
    const { client, scopes } = request.principal!
    const { socket } = request.raw
    const leaving = new AbortController()
    const leave = () => leaving.abort()
    if (socket.destroyed) leave()
    socket.once('close', leave)
    try {
      const thread = threads[scopes.includes('backend.deploy') ? 'deploying' : 'looking']
      return await thread.use(work, { client: client.id, signal: leaving.signal })
    } finally {
      socket.off('close', leave)
    }
  }

  return {
    plain: (request, schema) =>
      use(request, async (ask) => (await read(request, schema, { ask, holds: 'neither' })).body),
    manifest: (request, schema, active) =>
      use(request, async (ask) => {
        const { body, manifest } = await read(request, schema, { ask, holds: 'manifest', active })
        assertNotNewer(manifest!)
        return { body, manifest: manifest! }
      }),
    artifacts: (request, keep) =>
      use(request, async (ask) => {
        const { body, bytes = 0 } = await read(request, ArtifactsBody, { ask, holds: 'artifacts' })
        return keep({ count: body.artifacts.length, bytes, each: nextArtifacts(ask) })
      }),
  }
}

interface Reading extends Pick<ReadTask, 'holds' | 'active'> {
  readonly ask: Ask
}

async function read<Body extends TSchema>(
  request: FastifyRequest,
  schema: Body,
  { ask, ...task }: Reading,
): Promise<ReadResult & { readonly body: Static<Body> }> {
  const { body: sent } = request
  if (!(sent instanceof PackedBody))
    throw misfit(request, schema, sent) ?? errors.WP_BACKEND_BODY({ reason: 'it is empty' })
  const { isPacked } = sent
  const result = await ask({ bytes: movable(sent), isPacked, limit: request.routeOptions.bodyLimit, ...task })
  const { body, refused } = result
  if (body === undefined && refused !== undefined) throw revive(refused)
  const problem = misfit(request, schema, body)
  if (problem !== undefined) throw problem
  assertProtocol(body as { readonly protocol: number })
  if (refused !== undefined) throw revive(refused)
  return { ...result, body: body as Static<Body> }
}

async function* nextArtifacts(ask: Ask): AsyncIterable<readonly Artifact[]> {
  for (;;) {
    const { artifacts } = await ask('next')
    if (artifacts.length === 0) return
    yield artifacts
  }
}

/** Bytes with memory of their own: what is small shares it with others. */
function movable({ bytes }: PackedBody): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes)
}

/** The error that Fastify throws for a body that does not fit. */
function misfit(request: FastifyRequest, schema: TSchema, body: unknown): Error | undefined {
  const check = request.compileValidationSchema(schema, 'body')
  if (check(body)) return undefined
  const { errors: validation } = check
  return Object.assign(new Error('The body does not fit'), { validation, validationContext: 'body', statusCode: 400 })
}

function revive({ code, ...row }: CarriedError): Error {
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
