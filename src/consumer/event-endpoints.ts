import type { FastifyPluginAsync } from 'fastify'
import type { Guard } from '../auth/index.ts'
import { receivableEvents, scopesOf, type EventCatalog } from '../events/index.ts'
import { authorizeCallers, preventCaching } from './callers.ts'
import { errors } from './errors.ts'

export interface EventSources {
  readonly guard: Guard
  /** Returns the events of the active release. */
  catalog(): EventCatalog
  /** Describes the data of an event of the catalog. */
  describeData(name: string): DescribedData
}

export interface DescribedData {
  /** Undefined if any data may be dispatched. */
  readonly schema: unknown
  /** The named schemas that `schema` refers to, at any depth. */
  readonly schemas: Readonly<Record<string, unknown>>
  /** Data that matches `schema`; undefined if none can be generated. */
  readonly example: unknown
}

/** Mounts `/consumer/event`: the events that the token may subscribe to. Others are reported as unknown. */
export function mountEvents({ guard, catalog, describeData }: EventSources): FastifyPluginAsync {
  return async (app) => {
    preventCaching(app)
    const callerOf = authorizeCallers(app, guard, { login: false })
    app.get('/consumer/event', async (request) => {
      const events = receivableEvents(catalog(), callerOf(request).scopes)
      return {
        entry: Object.keys(events)
          .toSorted()
          .map((name) => describe(name, events)),
      }
    })
    app.get<{ Params: { name: string } }>('/consumer/event/:name', async (request) => {
      const { name } = request.params
      const events = receivableEvents(catalog(), callerOf(request).scopes)
      if (!Object.hasOwn(events, name)) throw errors.WP_CONSUMER_EVENT_UNKNOWN({ event: name.slice(0, 64) })
      const { schema = null, schemas, example = null } = describeData(name)
      return { ...describe(name, events), schema, schemas, example }
    })
  }
}

function describe(name: string, events: EventCatalog) {
  const event = events[name]!
  return { name, description: event.description ?? null, scopes: scopesOf(event) }
}
