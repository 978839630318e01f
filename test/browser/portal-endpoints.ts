// Events of a portal, and an endpoint that receives them.
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { Page } from 'playwright-core'
import { findSignatureProblem } from '../../src/events/index.ts'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { openReceiver, type Received, type Receiver } from '../events/receiver.ts'
import { deliverEvents, openPortalWorld, type PortalWorld } from './portal-world.ts'

export const script = `<img src=x onerror="window.isInjected = true"><script>window.isInjected = true</script>`
const events = `  order_paid:
    description: ${JSON.stringify(script)}
    schema: { type: object, required: [id], properties: { id: { type: integer }, note: { type: string, maxLength: 500 } } }
    scopes: [todo]
  secret_event: { description: Not for everyone, scopes: [other] }
  shelf_changed: { description: A shelf was changed, scopes: [todo] }
`

export const isInjected = (page: Page) =>
  page.evaluate(`window.isInjected === true || document.querySelector('#content :is(img, script)') !== null`)
export const state = (page: Page, text: string) => page.locator('#content .state').getByText(text, { exact: true })

/** Opens a portal with events and a receiver before the tests of a suite, and closes both after them. */
export function withEvents() {
  let world: PortalWorld
  let receiver: Receiver
  /** Delivers as `dev` does: subscribers see what their endpoint answers. */
  let visible: Outbound
  /** Delivers as a server does that allows a private network: subscribers do not see the answers. */
  let hidden: Outbound
  before(async () => {
    world = await openPortalWorld({ events, config: '  delivery_delays: [1s, 1s, 1s]\n' })
    receiver = await openReceiver()
    visible = openOutbound({ allow: () => [], loopback: true, clock: world.clock })
    hidden = openOutbound({ allow: () => ['127.0.0.0/8'], loopback: false, clock: world.clock })
  })
  after(async () => {
    await receiver.close()
    await visible.close()
    await hidden.close()
    await world[Symbol.asyncDispose]()
  })

  const asBea = async (method: string, at: string, body?: unknown) => {
    const authorization = await world.server.authorize('bea', ['consumer', 'todo'])
    const headers = { ...authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
    const answer = await world.call(at, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${at}: ${answer.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const deliver = (outbound = visible) => deliverEvents(world, outbound)
  /** Makes every attempt that is left. */
  const deliverUntilDead = async (outbound = visible) => {
    for (let attempt = 0; attempt < 4; attempt++) {
      await deliver(outbound)
      world.clock.forward(5000)
    }
  }
  const subscribe = async (endpoint: string, event = 'todo_created'): Promise<{ id: string; secret: string }> =>
    asBea('POST', '/consumer/subscription', { event, endpoint })
  const addTodo = (content: string) => asBea('POST', '/todo', { title: 'Order', content })
  const problemOf = ({ headers, body }: Received, secret: string) =>
    findSignatureProblem(
      {
        id: headers['webhook-id'] as string,
        timestamp: headers['webhook-timestamp'] as string,
        signature: headers['webhook-signature'] as string,
        body,
      },
      secret,
      world.clock.now(),
    )
  return {
    world: () => world,
    receiver: () => receiver,
    hidden: () => hidden,
    asBea,
    deliver,
    deliverUntilDead,
    subscribe,
    addTodo,
    problemOf,
  }
}
