import { STATUS_CODES } from 'node:http'
import AjvCompiler from '@fastify/ajv-compiler'
import type { FastifyContentTypeParser, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import buildSerializer, { type Options, type Schema } from 'fast-json-stringify'
import { isWaypostError } from '../kit/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import { errors } from './errors.ts'
import { mentionsObjectNames, withoutPrototypes } from './object-names.ts'
import { ActionFailure, ActionProblem } from './problem.ts'

/** What plugins have added to their contexts. */
export interface PluginContext {
  /** Returns the media types of the bodies that routes of a context accept, sorted. `*` accepts all. */
  typesOf(context: FastifyInstance): readonly string[]
}

interface AddedParser {
  readonly context: FastifyInstance
  readonly type: string | RegExp
  /** Maximum size of a body, in bytes; undefined for the limit of the server. */
  readonly limit: number | undefined
}

/**
 * Makes a context behave as one of a Fastify without options: schemas convert and complete values, `text/plain` is
 * accepted, parsers can be replaced, and errors have the statuses of Fastify's conventions. Routes of the project are
 * stricter.
 */
export function preparePluginContext(app: FastifyInstance): PluginContext {
  app.setSchemaController({ compilersFactory: makeCompilers() as never })
  const parsers = recordParsers(app)
  app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, text, done) => done(null, text))
  const parsersOf = (context: FastifyInstance) => parsers.filter((one) => isWithin(context, one.context)).toReversed()
  const typesOf = (context: FastifyInstance) => {
    const added = parsersOf(context).filter(({ type }) => context.hasContentTypeParser(type as string))
    const names = added.map(({ type }) => (typeof type === 'string' ? type : '*'))
    const json = context.hasContentTypeParser('application/json') ? ['application/json'] : []
    return [...new Set([...json, ...names])].toSorted()
  }
  app.setErrorHandler((error, request, reply) => {
    const context = request.server
    switch ((error as FastifyError | null)?.code) {
      case 'FST_ERR_CTP_BODY_TOO_LARGE':
        throw errors.WP_RUNTIME_BODY_SIZE({ limit: limitOf(request, parsersOf(context)) })
      case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
        throw wrongType(typesOf(context))
      default:
        throw convertError(error, reply)
    }
  })
  return { typesOf }
}

/**
 * Makes the compilers of a Fastify without options, not with those of the server. Unlike there, properties that values
 * inherit, such as `constructor`, are not theirs.
 */
function makeCompilers() {
  const buildValidator = AjvCompiler()
  return {
    buildValidator(shared: unknown) {
      const isNamed = mentionsObjectNames(true, shared as NamedSchemas)
      return (route: CompiledRoute) => {
        const customOptions = isNamed || mentionsObjectNames(route.schema, {}) ? { ownProperties: true } : {}
        return buildValidator(shared as never, { customOptions })(route)
      }
    },
    buildSerializer(shared: unknown) {
      const isNamed = mentionsObjectNames(true, shared as NamedSchemas)
      return ({ schema }: CompiledRoute) => {
        const { [schema.$id ?? '']: _, ...others } = shared as Readonly<Record<string, Schema>>
        const write = buildSerializer(schema as unknown as Schema, { schema: others } as Options)
        if (!isNamed && !mentionsObjectNames(schema, {})) return write
        return (value: unknown) => write(withoutPrototypes(value))
      }
    },
  }
}

interface CompiledRoute {
  readonly schema: Readonly<Record<string, unknown>> & { readonly $id?: string }
}

/**
 * Records the parsers that plugins add. A parser for JSON or text replaces the one of Waypost, as in Fastify it replaces
 * the default.
 */
function recordParsers(app: FastifyInstance): readonly AddedParser[] {
  const added: AddedParser[] = []
  const { addContentTypeParser: add } = app
  // Contexts inside this one inherit the function.
  app.addContentTypeParser = function (
    this: FastifyInstance,
    types: string | RegExp | readonly (string | RegExp)[],
    options: { readonly bodyLimit?: number } | FastifyContentTypeParser,
    ...rest: unknown[]
  ) {
    const limit = typeof options === 'function' ? undefined : options.bodyLimit // before Fastify completes the options
    for (const type of [types].flat() as readonly (string | RegExp)[]) {
      if (type === 'application/json' || type === 'text/plain') this.removeContentTypeParser(type)
      added.push({ context: this, type: typeof type === 'string' ? type.trim().toLowerCase() : type, limit })
    }
    return add.call(this, types as string, options as never, ...(rest as [never]))
  } as typeof add
  return added
}

/** Whether a context is another one, or inside it. */
function isWithin(context: FastifyInstance, other: FastifyInstance): boolean {
  return context === other || Object.prototype.isPrototypeOf.call(other, context)
}

/** A route without a limit has the one of the parser. */
function limitOf({ routeOptions, server, mediaType = '' }: FastifyRequest, parsers: readonly AddedParser[]): number {
  if (routeOptions.bodyLimit !== server.initialConfig.bodyLimit) return routeOptions.bodyLimit
  const used = parsers.find(({ type }) => (typeof type === 'string' ? type === mediaType : type.test(mediaType)))
  return used?.limit ?? routeOptions.bodyLimit
}

function wrongType(types: readonly string[]) {
  const listed = types.length < 2 ? types.join() : `${types.slice(0, -1).join(', ')} or ${types.at(-1)}`
  return errors.WP_RUNTIME_BODY_TYPE({ types: listed })
}

/**
 * Converts an error of a plugin by Fastify's conventions: a status that was set before, `statusCode` or `status`, and
 * `headers`. Callers see messages of client errors, unless `expose` says otherwise; see the package `http-errors`.
 */
function convertError(thrown: unknown, reply: FastifyReply): unknown {
  if (isWaypostError(thrown)) return thrown
  const error = Object(thrown) as Partial<FastifyError> & { status?: unknown; headers?: unknown; expose?: unknown }
  if (error.validation !== undefined || error.code?.startsWith('FST_ERR_CTP_') === true) return thrown
  const status = [reply.statusCode, error.statusCode, error.status].find(isErrorStatus) ?? 500
  if (typeof error.headers === 'object') reply.headers(error.headers as Record<string, string>)
  const isShown = status !== 500 && (error.expose ?? status < 500) === true && typeof error.message === 'string'
  if (isShown) return new ActionProblem(status, error.message!)
  if (status < 500) return new ActionProblem(status, STATUS_CODES[status] ?? 'Error')
  return new ActionFailure('route of a plugin failed', { cause: thrown }, status)
}

function isErrorStatus(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 400 && (value as number) <= 599
}
