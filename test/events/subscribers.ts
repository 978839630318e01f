import { afterEach, before, after, describe } from 'node:test'
import { makeDispatcher } from '../../src/events/index.ts'
import { deliverTestEvents } from '../../src/server/index.ts'
import { openPeople, type People, type Person } from '../consumer/people.ts'
import { openReceiver, type Answer, type Receiver } from './receiver.ts'
import { chooseKinds } from '../support/forms.ts'

/** A server whose deliveries may reach loopback, users of it, and their receivers. */
export interface Subscribers extends People {
  /** Closed behind the test. */
  openReceiver(answer?: Answer): Promise<Receiver>
  /** What the answer to a new subscription says. */
  subscribe(person: Person, endpoint: string, event?: string): Promise<{ id: string; secret: string }>
  dispatch(event: string, data: unknown): Promise<void>
  /** Delivers what is due. */
  deliver(): Promise<void>
  /** Lets pending deliveries be due, and delivers them. */
  deliverDelayed(): Promise<void>
}

/** Declares tests against a server that runs: on SQLite, in the long form on PostgreSQL too, which tests of workers use. */
export function withSubscribers(
  name: string,
  declare: (world: () => Subscribers) => void,
  config: Readonly<Record<string, unknown>> = {},
): void {
  for (const kind of chooseKinds('sqlite')) {
    describe(`${name}, ${kind}`, () => {
      const receivers: Receiver[] = []
      let people: People
      let world: Subscribers
      before(async () => {
        const settings = { delivery_allow: ['127.0.0.0/8'], ...config }
        people = await openPeople(kind, { events, config: settings })
        world = { ...people, ...makeActions(people, receivers) }
      })
      afterEach(async () => {
        for (const receiver of receivers.splice(0)) await receiver.close()
        for (const table of ['subscription', 'message', 'delivery', 'attempt', 'throttle'] as const) {
          await people.system.db.deleteFrom(`waypost_${table}`).execute()
        }
      })
      after(() => people.close())
      declare(() => world)
    })
  }
}

const events = {
  todo_created: {},
  todo_done: {},
  order_paid: { scopes: ['order'] },
  todo_shared: { scopes: ['todo'] },
  note_kept: { scopes: ['note'] },
}

function makeActions({ server, system, clock }: People, receivers: Receiver[]) {
  const deliver = () => deliverTestEvents(server)
  return {
    async openReceiver(answer?: Answer) {
      const receiver = await openReceiver(answer)
      receivers.push(receiver)
      return receiver
    },
    async subscribe(person: Person, endpoint: string, event = 'todo_created') {
      const { body } = await person.send('POST /consumer/subscription', { event, endpoint })
      return { id: body.id as string, secret: body.secret as string }
    },
    async dispatch(event: string, data: unknown) {
      const dispatcher = makeDispatcher(system, server.terms().catalog)
      await dispatcher.store([dispatcher.prepare({ event, data })])
    },
    deliver,
    async deliverDelayed() {
      await system.db
        .updateTable('waypost_delivery')
        .set({ due_at: clock.now(), scheduled_at: clock.now() })
        .where('status', '=', 'pending')
        .execute()
      await system.db.updateTable('waypost_subscription').set({ failures: 0, open_until: null }).execute()
      await deliver()
    },
  }
}
