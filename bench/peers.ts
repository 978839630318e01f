import type { FastifyPluginAsync } from 'fastify'
import type { RequestListener } from 'node:http'
import type { Readable } from 'node:stream'

// The programs that Waypost is compared with are installed on their own (`bench/peers/package.json`), so that working on
// Waypost does not need them. Their types are those parts that the benchmarks use.

interface Peers {
  '@fastify/etag': { readonly etag: FastifyPluginAsync }
  '@fastify/sse': { readonly sse: FastifyPluginAsync }
  '@fastify/static': { readonly files: FastifyPluginAsync<{ readonly root: string }> }
  '@fastify/jwt': { readonly jwt: FastifyPluginAsync<Readonly<Record<string, unknown>>> }
  '@fastify/multipart': { readonly multipart: FastifyPluginAsync<Readonly<Record<string, unknown>>> }
  'graphile-worker': {
    readonly Logger: new (factory: () => () => void) => object
    run(options: object): Promise<{ readonly promise: Promise<void>; stop(): Promise<void> }>
    runMigrations(options: { readonly connectionString: string }): Promise<void>
  }
  'pg-boss': {
    readonly PgBoss: new (options: object) => {
      on(event: 'error', report: (error: unknown) => void): void
      start(): Promise<unknown>
      stop(options: object): Promise<void>
      createQueue(name: string, options: object): Promise<void>
      insert(name: string, jobs: readonly object[]): Promise<unknown>
      work(name: string, options: object, handle: (jobs: readonly object[]) => Promise<void>): Promise<unknown>
    }
  }
  'oidc-provider': { readonly Provider: new (issuer: string, options: object) => { callback(): RequestListener } }
}

/** What `@fastify/jwt` adds to an instance and to requests. */
export interface JwtSigner {
  readonly jwt: { sign(claims: object): string }
}
export interface JwtRequest {
  jwtVerify<Claims = unknown>(): Promise<Claims>
}

/** What `@fastify/multipart` adds to requests. */
export interface MultipartRequest {
  parts(): AsyncIterable<{ readonly file?: Readable; readonly fieldname: string }>
}

/** Loads a peer. Each on its own, because their memory is measured. */
export async function loadPeer<Name extends keyof Peers>(name: Name): Promise<Peers[Name]> {
  try {
    return (await import(new URL(`peers/${name.replace(/^.*\//, '')}.js`, import.meta.url).href)) as Peers[Name]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(`${name} is not installed. Run: npm ci --prefix bench/peers`, { cause: error })
  }
}
