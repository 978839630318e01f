import { Type } from 'typebox'
import { makeTimetable } from '../../../host/index.ts'
import { formatTime, isTimezone, parseSchedule } from '../../../kit/index.ts'
import { defineRoute } from '../route.ts'
import { maybeText, record, time } from '../shapes.ts'

const maxRuns = 5

const schedule = defineRoute({
  name: 'describeSchedule',
  summary: 'The next runs of a crontab schedule, or what is wrong with it',
  method: 'GET',
  path: '/schedule',
  scopes: ['backend.read'],
  query: record({
    schedule: Type.String({ maxLength: 200 }),
    timezone: Type.Optional(Type.String({ maxLength: 100 })),
  }),
  response: record({
    /** At most five; none if the schedule never runs. */
    next: Type.Array(time),
    problem: maybeText,
  }),
  async handle({ host, query }) {
    const { schedule: text, timezone = 'UTC' } = query
    if (!isTimezone(timezone)) return { next: [], problem: `Unknown time zone "${timezone}"` }
    const parsed = parseSchedule(text)
    if ('problem' in parsed) return { next: [], problem: parsed.problem }
    const timetable = makeTimetable(parsed.schedule, timezone)
    const next: string[] = []
    let at = timetable.next(host.clock.now())
    while (at !== undefined && next.length < maxRuns) {
      next.push(formatTime(at))
      at = timetable.next(at)
    }
    return { next, problem: null }
  },
})

export const scheduleRoutes = [schedule] as const
