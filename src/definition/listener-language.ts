import { Type } from 'typebox'

const duration = (description: string) => Type.String({ title: 'a duration such as 30s or 5m', description })

/** The keys of a listener, besides its action. */
export const listenerKeys = {
  event: Type.String({ title: 'the name of an event', description: 'Event whose messages the action handles' }),
  description: Type.Optional(Type.String({ title: 'a string', description: 'Description for operators' })),
  timeout: Type.Optional(duration('Time limit of a run, after which it fails; default: 30s, at most 6h')),
  retries: Type.Optional(
    Type.Array(Type.String({ title: 'a duration such as 30s or 5m' }), {
      title: 'a list of durations',
      description: 'Delays before the retries of a failed run, at most 20; default: the setting `delivery_delays`',
      maxItems: 20,
    }),
  ),
  concurrency: Type.Optional(
    Type.Integer({
      title: 'an integer from 1 to 100',
      description: 'Runs at the same time in each worker; default: 8',
      minimum: 1,
      maximum: 100,
    }),
  ),
  exclusive: Type.Optional(
    Type.Union([Type.Literal(true), Type.String({ pattern: '^data(\\.[A-Za-z_][A-Za-z0-9_-]*)+$' })], {
      title: 'true, or a property of the data such as data.customer_id',
      description: 'One run at a time; with a property of the data, one run at a time for each of its values',
    }),
  ),
  starts: Type.Optional(
    Type.Object(
      {
        limit: Type.Integer({
          title: 'an integer of at least 1',
          description: 'Number of runs that may start in a window',
          minimum: 1,
          maximum: 1_000_000,
        }),
        window: duration('Length of the window, at most 24h'),
      },
      {
        title: 'a limit of starts',
        additionalProperties: false,
        description: 'Limits how many runs start, across all workers',
      },
    ),
  ),
  once: Type.Optional(
    Type.Literal(true, {
      description:
        'Runs the action in a transaction of System that also records the run, so that its changes happen once',
    }),
  ),
}
