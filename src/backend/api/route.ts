import type { TObject, TSchema } from 'typebox'
import type { backendScopes } from '../../auth/index.ts'
import type { Log, Principal } from '../../contract/index.ts'
import { etagOf } from '../../kit/index.ts'
import type { TrafficLog } from './traffic-log.ts'
import type { KnownActor } from '../deploy/actor.ts'
import type { Draft } from '../draft/draft.ts'
import type { Publisher } from '../publish/publisher.ts'
import type { Rows } from '../rows/open-rows.ts'
import type { Host, ReleaseTerms } from '../../host/index.ts'
import type { ActingHost } from '../../operate/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import type { BuiltInRoute } from '../../runtime/index.ts'

/** What the routes use of their server. */
export interface AdminSources {
  readonly host: Host
  readonly outbound: Outbound
  /** Starts a cronjob of the active release. Resolves when it has begun. */
  startCronjob(name: string): Promise<void>
  /** The terms of the release being served. */
  terms(): ReleaseTerms
  /** The last requests; only in `dev`. */
  readonly traffic?: TrafficLog | undefined
  /** The definition that is edited; undefined if WAYPOST_BACKEND is `read`. */
  readonly draft?: Draft | undefined
  /** Publishes the draft of a server; undefined in `dev`. */
  readonly publisher?: Publisher | undefined
  /** The rows of tables; undefined if WAYPOST_BACKEND_DATA does not show them. */
  readonly rows?: Rows | undefined
  /** Applies changes of System to the caches of this process immediately. */
  applyChanges(): Promise<void>
}

/** A route of the admin API. */
export interface AdminRoute<
  Params extends TObject = TObject,
  Query extends TObject = TObject,
  Body extends TSchema = TSchema,
  Response extends TSchema = TSchema,
> extends BuiltInRoute<Params, Query, Body, Response, AdminCall> {
  /** The token must have one of these. */
  readonly scopes: readonly (typeof backendScopes)[number][]
  /** Whether the pages of the backend must have asked for the password within the last 15 minutes. */
  readonly needsRecentPassword?: boolean
  /**
   * Whether it reads or changes the draft: 404 on a server without one. In `dev`, where a change is served at once,
   * changes need `backend.deploy` instead of `backend.write`, and other machines get 403.
   */
  readonly usesDraft?: boolean
  /** Whether it shows rows: 403 on a server that does not. */
  readonly usesRows?: boolean
  /** The part of the request that causes an error, by its code: `body/name`. */
  readonly fields?: Readonly<Record<`WP_${string}`, string>>
}

/** What a handler of the admin API gets beside the request's input. */
export interface AdminCall extends AdminSources {
  readonly principal: Principal
  readonly log: Log
  /** Returns a signal that aborts when the caller disconnects. */
  openSignal(): AbortSignal
  /** The id of the caller's token. */
  readonly tokenId: string | undefined
  /** The caller, for the audit log. Reads the client's name from System. */
  actor(): Promise<KnownActor>
  /** The host with the caller as its actor, for audited changes. */
  acting(): Promise<ActingHost>
  /** For requests that grant rights only sometimes. @throws WP_AUTH_STEP_UP */
  assertRecentPassword(): void
  /** Sets the ETag of the response to that of a record. */
  tag(record: unknown): void
  /** What the headers `If-Match` and `If-None-Match` require: an ETag, `*` for any value, null for none. */
  readonly condition: string | null | undefined
  /** Sets the ETag of the response. */
  setEtag(etag: string): void
  /**
   * Checks `If-Match` against the current record, which another caller may have changed.
   * @throws ChangedRecord
   */
  assertUnchanged(record: unknown): void
}

/** A route whose type has its operation and its schemas, so that the pages infer what they send and receive. */
export interface DefinedRoute<
  Method extends AdminRoute['method'],
  Path extends string,
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Response extends TSchema,
  Lines extends TSchema,
> extends Omit<AdminRoute, 'method' | 'path' | 'params' | 'query' | 'body' | 'response' | 'lines'> {
  readonly method: Method
  readonly path: Path
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  readonly response?: Response
  readonly lines?: Lines
}

/** Types a route by its schemas. */
export function defineRoute<
  const Method extends AdminRoute['method'],
  const Path extends string,
  Params extends TObject,
  Query extends TObject,
  Body extends TSchema,
  Response extends TSchema,
  Lines extends TSchema,
>(
  route: AdminRoute<Params, Query, Body, Response> & {
    readonly method: Method
    readonly path: Path
    readonly lines?: Lines
  },
): DefinedRoute<Method, Path, Params, Query, Body, Response, Lines> {
  return route
}

/** Another caller has changed the record. The response contains the current one. */
export class ChangedRecord extends Error {
  readonly current: unknown
  readonly etag: string

  constructor(current: unknown, etag = etagOfRecord(current)) {
    super('the record has changed')
    this.current = current
    this.etag = etag
  }
}

/** @throws ChangedRecord if `If-Match` names another state of the record */
export function assertMatches(ifMatch: string | undefined, current: unknown): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  const tag = etagOfRecord(current)
  if (!ifMatch.split(',').some((one) => one.trim() === tag)) throw new ChangedRecord(current)
}

/** A strong ETag of a record: a hash of its content. */
export function etagOfRecord(record: unknown): string {
  return etagOf(JSON.stringify(record))
}
