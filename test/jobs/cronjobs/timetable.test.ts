import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fc } from '../../support/property.ts'
import { parseSchedule } from '../../../src/kit/index.ts'
import { makeTimetable, type Timetable } from '../../../src/host/cronjobs/timetable.ts'

function timetable(schedule: string, timezone = 'UTC'): Timetable {
  const parsed = parseSchedule(schedule)
  assert.ok('schedule' in parsed, schedule)
  return makeTimetable(parsed.schedule, timezone)
}

function slotsAfter(table: Timetable, from: string, count: number): string[] {
  const slots: string[] = []
  let at = Date.parse(from)
  while (slots.length < count) {
    at = table.next(at)!
    assert.equal(table.latest(at), at, 'a slot is the latest at its own time')
    slots.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  }
  return slots
}

interface Case {
  readonly name: string
  readonly schedule: string
  readonly timezone?: string
  readonly from: string
  readonly slots: readonly string[]
}

const cases: readonly Case[] = [
  {
    name: 'steps of minutes begin at the hour',
    schedule: '*/25 * * * *',
    from: '2026-11-20T10:00Z',
    slots: ['2026-11-20T10:25Z', '2026-11-20T10:50Z', '2026-11-20T11:00Z'],
  },
  {
    name: 'lists, ranges and names of days',
    schedule: '0 8,20 * * mon-tue',
    from: '2026-11-20T00:00Z',
    slots: ['2026-11-23T08:00Z', '2026-11-23T20:00Z', '2026-11-24T08:00Z', '2026-11-24T20:00Z', '2026-11-30T08:00Z'],
  },
  {
    name: '0 and 7 are Sunday',
    schedule: '0 0 * * 7',
    from: '2026-11-20T00:00Z',
    slots: ['2026-11-22T00:00Z', '2026-11-29T00:00Z'],
  },
  {
    name: 'of two kinds of days that are named either will do',
    schedule: '0 4 13 * fri',
    from: '2026-09-11T04:00Z',
    slots: ['2026-09-13T04:00Z', '2026-09-18T04:00Z'],
  },
  {
    name: 'a day of the month with a step leaves the weekday to say which of them',
    schedule: '0 0 */2 * mon',
    from: '2026-11-01T00:00Z',
    slots: ['2026-11-09T00:00Z', '2026-11-23T00:00Z', '2026-12-07T00:00Z'],
  },
  {
    name: 'a day that few months have',
    schedule: '0 0 31 * *',
    from: '2026-08-31T00:00Z',
    slots: ['2026-10-31T00:00Z', '2026-12-31T00:00Z'],
  },
  {
    name: 'February 29 on a Sunday',
    schedule: '0 0 29 2 */7',
    from: '2026-11-20T00:00Z',
    slots: ['2032-02-29T00:00Z', '2060-02-29T00:00Z'],
  },
  {
    name: 'a time zone with a quarter of an hour',
    schedule: '0 4 * * *',
    timezone: 'Asia/Kathmandu',
    from: '2026-11-20T00:00Z',
    slots: ['2026-11-20T22:15Z', '2026-11-21T22:15Z'],
  },
  {
    name: 'an hour that summer time skips is made up for right after, once',
    schedule: '*/20 2 * * *',
    timezone: 'Europe/Berlin',
    from: '2026-03-28T12:00Z',
    slots: ['2026-03-29T01:00Z', '2026-03-30T00:00Z', '2026-03-30T00:20Z'],
  },
  {
    name: 'an hour that comes twice counts once',
    schedule: '30 2 * * *',
    timezone: 'Europe/Berlin',
    from: '2026-10-24T12:00Z',
    slots: ['2026-10-25T00:30Z', '2026-10-26T01:30Z'],
  },
  {
    name: 'every hour is every hour that goes by, when a clock is put back',
    schedule: '30 * * * *',
    timezone: 'Europe/Berlin',
    from: '2026-10-24T23:40Z',
    slots: ['2026-10-25T00:30Z', '2026-10-25T01:30Z', '2026-10-25T02:30Z'],
  },
  {
    name: 'every hour is every hour that goes by, when a clock is put forward',
    schedule: '30 * * * *',
    timezone: 'Europe/Berlin',
    from: '2026-03-28T23:40Z',
    slots: ['2026-03-29T00:30Z', '2026-03-29T01:30Z', '2026-03-29T02:30Z'],
  },
  {
    name: 'a midnight that summer time skips',
    schedule: '0 0 * * *',
    timezone: 'America/Santiago',
    from: '2026-09-05T12:00Z',
    slots: ['2026-09-06T04:00Z', '2026-09-07T03:00Z'],
  },
  {
    name: 'a change of half an hour',
    schedule: '15 2 * * *',
    timezone: 'Australia/Lord_Howe',
    from: '2026-10-03T00:00Z',
    slots: ['2026-10-03T15:30Z', '2026-10-04T15:15Z'],
  },
]

describe('slots of a schedule', () => {
  for (const { name, schedule, timezone, from, slots } of cases) {
    test(`${name}: ${schedule}${timezone === undefined ? '' : ` in ${timezone}`}`, () => {
      assert.deepEqual(slotsAfter(timetable(schedule, timezone), from, slots.length), slots)
    })
  }

  test('are found backwards as they are forwards, in every time zone and through every change of clocks', () => {
    const schedules = ['*/7 * * * *', '15,45 */6 * * *', '30 2 * * 0', '0 0 1 */2 *', '59 23 28-31 * 1-5', '10 1 * * *']
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Africa/Casablanca',
      'Asia/Tehran',
    ]
    const start = Date.UTC(2026, 0, 1)
    fc.assert(
      fc.property(
        fc.constantFrom(...schedules),
        fc.constantFrom(...zones),
        fc.integer({ min: 0, max: 366 * 24 * 60 }),
        (schedule, zone, minutes) => {
          const table = timetable(schedule, zone)
          const at = start + minutes * 60_000
          const next = table.next(at)!
          const latest = table.latest(at)!
          assert.ok(latest <= at && at < next)
          assert.equal(table.next(latest), next, 'nothing lies between')
          assert.equal(table.latest(next - 1), latest)
        },
      ),
      { numRuns: 300 },
    )
  })

  test('in UTC are the minutes whose parts the fields name', () => {
    const table = timetable('*/11 3-9/2 * jan-mar 1-5')
    const found: number[] = []
    const expected: number[] = []
    const end = Date.UTC(2026, 0, 20)
    for (let at = table.next(Date.UTC(2026, 0, 1) - 1)!; at < end; at = table.next(at)!) found.push(at)
    for (let at = Date.UTC(2026, 0, 1); at < end; at += 60_000) {
      const date = new Date(at)
      const isHour = [3, 5, 7, 9].includes(date.getUTCHours())
      if (date.getUTCMinutes() % 11 === 0 && isHour && date.getUTCDay() % 6 !== 0) expected.push(at)
    }
    assert.deepEqual(found, expected)
  })
})
