import type { DatabaseKind } from '../src/contract/index.ts'
import { makeDispatcher, measureEvents } from '../src/events/index.ts'
import { findDueLanes, type Terms } from '../src/events/lanes/read.ts'
import { fanOutChunk } from '../src/events/message/fan-out.ts'
import { listOwnDeliveries } from '../src/events/subscription/own-deliveries.ts'
import { issueTokens, openKeyRing, openTokenIssuer } from '../src/auth/index.ts'
import { openHost, openIdentity, type Host } from '../src/host/index.ts'
import { pruneSystem } from '../src/jobs/retention/prune.ts'
import { defaultSettings } from '../src/kit/index.ts'
import {
  countReplayable,
  findHostDelivery,
  findHostToken,
  listHostAudit,
  listHostClients,
  listHostDeliveries,
  listHostEvents,
  listHostMessages,
  listHostScopes,
  listHostSubscriptions,
  listHostTokens,
  listHostUsers,
  loadDeliverySummary,
  showHostSubscription,
} from '../src/operate/index.ts'
import { makeCursor } from '../src/store/index.ts'
import { openTestHost } from '../test/events/host.ts'
import { systemKinds } from '../test/support/server.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { fillSystem, type Size } from './growth-fill.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(15)
const limit = 50
const maxRatio = 3
/** What takes less is as good as constant: pages of the file that are not in the cache take as long. */
const freeMs = 5

function sizeOf(deliveries: number): Size {
  const others = Math.max(20, deliveries / 25)
  return { deliveries, tokens: deliveries / 5, users: others, subscriptions: deliveries / 100, audit: others }
}

/** How each takes longer with the number of rows, and why that is so. `docs/benchmarks.md` explains them. */
const explained: Readonly<Record<string, string>> = {
  'events with their queues': 'subscriptions',
  'replay preview of all': 'at most 10,000',
  'delivery summary': 'at most 10,000',
  'deliveries, of a common event': 'subscriptions of the event',
  'deliveries, retrying': 'at most a page of each lane',
  'lanes with work': 'subscriptions with waiting deliveries',
  'users with a common scope': 'users',
  'pruning, nothing to delete': 'not examined, once an hour',
  'queue for /metrics': 'subscriptions and what is waiting or dead',
  'users, a search without a match': 'users',
  'users, a search': 'users',
  'scopes with their holders': 'users',
}

/** Measures how much longer operations take on a System with 500,000 deliveries, 100,000 tokens and 20,000 users than on a thousandth. */
export async function measureGrowth(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of systemKinds) {
    const [large, small] = [
      await openFilled(kind, sizeOf(scaled(500_000, 2000))),
      await openFilled(kind, sizeOf(scaled(500, 500))),
    ]
    try {
      for (const name of Object.keys(large.operations)) figures.push(await compare(kind, name, { large, small }))
    } finally {
      await large.close()
      await small.close()
    }
  }
  return figures
}

async function compare(
  kind: DatabaseKind,
  name: string,
  { large, small }: Record<'large' | 'small', Awaited<ReturnType<typeof openFilled>>>,
): Promise<Figure> {
  const times = { large: [] as number[], small: [] as number[] }
  for (let round = -2; round < rounds; round += 1) {
    for (const [size, { operations }] of [
      ['large', large],
      ['small', small],
    ] as const) {
      const start = performance.now()
      await operations[name]!()
      if (round >= 0) times[size].push(performance.now() - start) // the others warm up
    }
  }
  const [slow, fast] = [median(times.large), median(times.small)]
  const ratio = slow < freeMs ? 1 : slow / fast
  const what = `${name}, ${kind}, ${slow.toFixed(1)} and ${fast.toFixed(1)} ms`
  const reason = explained[name]
  if (reason === undefined || ratio <= maxRatio) return atMost(what, { value: ratio, unit: '' }, maxRatio)
  return beside(`${what}; grows with: ${reason}`, { value: ratio, unit: '' })
}

type Operation = () => Promise<unknown>

/** Opens a System of a size, with operations on it. */
async function openFilled(kind: DatabaseKind, size: Size) {
  const { host, folder, variables, activate, close } = await openTestHost(kind)
  await activate({ events: { common: {}, rare: {} } })
  await fillSystem(host.system, size)
  return { operations: await makeOperations({ host, folder, variables }, size), close }
}

async function makeOperations(
  { host, folder, variables }: Pick<Awaited<ReturnType<typeof openTestHost>>, 'host' | 'folder' | 'variables'>,
  size: Size,
): Promise<Readonly<Record<string, Operation>>> {
  const { system } = host
  const number = (at: number) => String(at).padStart(10, '0')
  const middle = await system.db
    .selectFrom('waypost_delivery')
    .select(['id', 'message_id'])
    .orderBy('id')
    .limit(1)
    .offset(size.deliveries / 2)
    .executeTakeFirstOrThrow()
  const deep = makeCursor([['id', 'desc']], middle)
  const deliveries = (filter: Omit<Parameters<typeof listHostDeliveries>[1], 'limit'>) => () =>
    listHostDeliveries(host, { ...filter, limit })
  const subscription = `sub_${number(1)}`
  const user = `user${number(1)}`
  const events = { common: {}, rare: {} }
  const terms: Terms = { catalog: events, settings: defaultSettings }
  const dispatcher = makeDispatcher(system, events)
  const tokens = await openTokens(host)
  const all = { since: { atMs: 0 } }
  return {
    deliveries: deliveries({}),
    'deliveries, in the middle': deliveries({ cursor: deep }),
    'deliveries, dead': deliveries({ state: 'dead' }),
    'deliveries, cancelled': deliveries({ state: 'cancelled' }),
    'deliveries, pending': deliveries({ state: 'pending' }),
    'deliveries, retrying': deliveries({ state: 'retrying' }),
    'deliveries, of the last minutes': deliveries({ since: { agoMs: 300_000 } }),
    'deliveries, of a subscription': deliveries({ subscription }),
    'deliveries, of a rare event': deliveries({ event: 'rare' }),
    'deliveries, of a rare event, dead': deliveries({ event: 'rare', state: 'dead' }),
    'deliveries, of a common event': deliveries({ event: 'common' }),
    'deliveries, of a user': deliveries({ user }),
    'deliveries, of a user, dead': deliveries({ user, state: 'dead' }),
    'deliveries, to an endpoint': deliveries({ endpoint: 'example.com/1' }),
    'deliveries, as their owner': () => listOwnDeliveries(system, { subscription, limit }),
    'one delivery': () => findHostDelivery(host, middle.id),
    'delivery summary': () => loadDeliverySummary(host),
    'events with their queues': () => listHostEvents(host),
    'replay preview of all': () => countReplayable(host, all),
    'replay preview of a rare event': () => countReplayable(host, { ...all, event: 'rare' }),
    'queue for /metrics': () => measureEvents(system, terms),
    'lanes with work': () => findDueLanes(system, terms),
    messages: () => listHostMessages(host, { limit }),
    'messages of a rare event': () => listHostMessages(host, { event: 'rare', limit }),
    subscriptions: () => listHostSubscriptions(host, { limit }),
    'subscriptions of an event': () => listHostSubscriptions(host, { event: 'rare', limit }),
    'subscriptions of a user': () => listHostSubscriptions(host, { user, limit }),
    'one subscription': () => showHostSubscription(host, subscription),
    dispatch: () => dispatcher.store([dispatcher.prepare({ event: 'rare', data: { title: 'a to-do' } })]),
    'fan-out': () => fanOutChunk(system, events),
    users: () => listHostUsers(host, { limit }),
    'users with a rare scope': () => listHostUsers(host, { scope: 'rare', limit }),
    'users with a common scope': () => listHostUsers(host, { scope: 'consumer', limit }),
    'users, a search': () => listHostUsers(host, { search: user, limit }),
    'users, a search without a match': () => listHostUsers(host, { search: 'nothing', limit }),
    clients: () => listHostClients(host, { limit }),
    tokens: () => listHostTokens(host, { sort: 'expires', limit }),
    'tokens of a user': () => listHostTokens(host, { user, limit }),
    'one token': () => findHostToken(host, `t${number(1)}`),
    'issue a token': tokens.issue,
    'issue a token that can be renewed': tokens.begin,
    'scopes with their holders': () => listHostScopes(host, () => undefined),
    'audit log': () => listHostAudit(host, { limit }),
    'audit log of a kind': () => listHostAudit(host, { action: 'client', limit }),
    'audit log of a user': () => listHostAudit(host, { user: 'user1', limit }),
    'pruning, nothing to delete': () => pruneSystem(system, { settings: defaultSettings }),
    'start of a command': async () => (await openHost({ folder, variables })).close(),
  }
}

async function openTokens(host: Host): Promise<Record<'issue' | 'begin', Operation>> {
  const { secrets, issuer } = await openIdentity(host)
  const { system, clock } = host
  const keys = await openKeyRing(system, secrets)
  await keys.prepare(defaultSettings.token_algorithm)
  const opened = openTokenIssuer({ system, keys, clock, secrets, issuer, settings: () => defaultSettings })
  const grantee = { userId: `u${'1'.padStart(10, '0')}`, clientId: `c${'1'.padStart(10, '0')}`, scopes: ['consumer'] }
  return {
    issue: () => issueTokens(opened, grantee, { refresh: false }),
    begin: () => issueTokens(opened, grantee, { refresh: true }),
  }
}
