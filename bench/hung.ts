import { fanOutChunk } from '../src/events/message/fan-out.ts'
import { makeDispatcher } from '../src/events/index.ts'
import { openWorld, type World } from '../test/events/world.ts'
import { systemKinds } from '../test/support/server.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'

const rounds = scaled(5)
const due = scaled(1000, 50)

/** Measures the cost of a hanging endpoint with due deliveries for the deliveries of a responding one. */
export async function measureHung(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of systemKinds) {
    const { world, close } = await openWorld(kind)
    world.catalog = { note: {}, other_note: {} }
    figures.push(...(await measureIn(world)))
    await close()
  }
  return figures
}

async function measureIn(world: World): Promise<Figure[]> {
  const hung = await world.openReceiver(() => undefined)
  const quick = await world.openReceiver()
  const user = await world.addUser()
  const { id } = await world.subscribe(user, 'note', hung.url)
  await world.subscribe(user, 'other_note', quick.url)
  const dispatcher = makeDispatcher(world.system, world.catalog)
  for (const event of ['note', 'other_note'])
    await dispatcher.store(Array.from({ length: due }, (_, data) => dispatcher.prepare({ event, data })))
  while (await fanOutChunk(world.system, world.catalog));

  async function time(without: string | undefined): Promise<number> {
    await makeDue(world, without)
    const before = quick.received.length
    const stop = new AbortController()
    const began = performance.now()
    let ended = 0
    quick.choose = (count) => {
      if (count < before + due) return 204
      ended = performance.now()
      stop.abort()
      hung.hangUp()
      return 204
    }
    await world.execute({ signal: stop.signal })
    return ended - began
  }
  // Other load only adds time, so the shortest time is the most accurate.
  let [undisturbed, disturbed] = [Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    undisturbed = Math.min(undisturbed, await time(id))
    disturbed = Math.min(disturbed, await time(undefined))
  }
  await Promise.all([hung.close(), quick.close()])
  return [
    atMost(
      `${due} deliveries beside a hanging endpoint, times without, ${world.kind}`,
      { value: disturbed / undisturbed, unit: '' },
      1.5,
    ),
    beside('  without and with', `${undisturbed.toFixed(0)} and ${disturbed.toFixed(0)} ms`),
  ]
}

/** Makes everything due, except for one subscription. */
async function makeDue({ system }: World, without: string | undefined): Promise<void> {
  await system.db.deleteFrom('waypost_attempt').execute()
  await system.db.updateTable('waypost_subscription').set({ failures: 0, open_until: null }).execute()
  const fresh = { failures: 0, lost: 0, finished_at: null, due_at: 1 }
  await system.db
    .updateTable('waypost_delivery')
    .set({ ...fresh, status: 'pending' })
    .execute()
  if (without === undefined) return
  await system.db
    .updateTable('waypost_delivery')
    .set({ status: 'cancelled', finished_at: 1 })
    .where('subscription_id', '=', without)
    .execute()
}
