import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before } from 'node:test'
import { openSystem, recordChanges, startFeed, type Change, type Feed, type System } from '../../src/store/index.ts'
import { makeTestClock } from '../support/clock.ts'
import { copySystem } from '../support/migrated.ts'
import { startPostgres, type TestPostgres } from '../support/postgres.ts'

export type News = readonly Change[] | 'reset'

/** A System whose feed the tests of one suite follow. */
export function useFedSystem(kind: 'sqlite' | 'postgresql') {
  let folder: string
  let postgres: TestPostgres
  let url: string
  let system: System
  const open: { close(): Promise<unknown> }[] = []
  before(async () => {
    if (kind === 'sqlite') {
      folder = await mkdtemp(path.join(tmpdir(), 'waypost-feed-'))
      url = `sqlite:${path.join(folder, 'system.db')}`
    } else {
      postgres = await startPostgres()
      url = await postgres.createSystem()
    }
    await copySystem(url, '')
    system = await openSystem({ url, create: true, disposable: true, poolSize: 30 })
  })
  after(async () => {
    for (const one of open) await one.close()
    await system.close()
    if (kind === 'sqlite') await rm(folder, { recursive: true })
    else await postgres.stop()
  })

  /** A clock that does not advance, so that a feed stays fresh on a slow machine. */
  function makeFrozenClock() {
    const clock = makeTestClock()
    clock.freeze()
    return clock
  }

  /** Opens a feed and records its events. */
  async function follow(
    options: Parameters<typeof startFeed>[1] = {},
    of = system,
  ): Promise<{ feed: Feed; told: News[] }> {
    const feed = await startFeed(of, { clock: makeFrozenClock(), ...options })
    open.push(feed)
    const told: News[] = []
    feed.listen((news) => told.push(news))
    return { feed, told }
  }
  const record = (...subjects: readonly string[]) =>
    system.transaction((trx) =>
      recordChanges(
        system,
        trx,
        subjects.map((subject) => ({ kind: 'token', subject })),
      ),
    )
  const subjects = (told: readonly News[]) =>
    told.flatMap((news) => (news === 'reset' ? ['RESET'] : news.map(({ subject }) => subject)))
  return {
    get url() {
      return url
    },
    get system() {
      return system
    },
    open,
    makeFrozenClock,
    follow,
    record,
    subjects,
  }
}
