import type { ActionClass, ConfigProblem } from 'waypost'

interface Config {
  readonly event: string
}

const config = {
  type: 'object',
  required: ['event'],
  properties: { event: { type: 'string', description: 'An entry of "event"', 'x-waypost': 'event' } },
  additionalProperties: false,
}

/** Stores the body of the request as an event and responds with 202. */
export const dispatch: ActionClass<Config> = {
  description: 'Dispatches the body of the request as an event',
  routesOnly: true,
  config,
  describe({ event }, { method, declared, events }) {
    const { schema } = (Object.hasOwn(events, event) ? events[event] : undefined) ?? {}
    const problems: ConfigProblem[] = []
    if (method === 'GET' || method === 'DELETE') {
      const hint = 'Use POST, PUT or PATCH'
      problems.push({ at: '', message: `A ${method} request has no body that could be dispatched`, hint })
    }
    if (declared.request !== undefined) {
      const message = `The body is validated against the schema of the event "${event}"`
      problems.push({ at: '/event', message, hint: 'Remove "request" from the method' })
    }
    return {
      problems,
      ...(schema === undefined ? {} : { request: schema }),
      responses: {
        202: {
          description: 'The event is stored',
          type: 'object',
          required: ['event'],
          properties: { event: { const: event, description: 'The name of the event' } },
        },
      },
    }
  },
  make({ config: { event }, use }) {
    if (use === undefined)
      throw new Error('the class "dispatch" needs the body of a request, which a cronjob does not have')
    return {
      async handle({ body }, context) {
        await context.dispatch(event, body)
        return context.respond(202, { event })
      },
    }
  },
}
