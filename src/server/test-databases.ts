import type { Client } from 'pg'
import { makeUuid, messageOf } from '../kit/index.ts'
import { openPostgres, redactUrl } from '../store/index.ts'
import { errors } from './errors.ts'

/** Databases on one PostgreSQL server, each created for one test and dropped after it. */
export interface TestDatabases extends AsyncDisposable {
  /**
   * Creates an empty database.
   * @param owner what needs it, as the subject of a sentence
   * @returns its URL
   * @throws WP_SERVER_TEST_SERVER, WP_SERVER_TEST_DATABASE
   */
  create(owner: string): Promise<string>
}

/** Older databases were left behind by killed tests. */
const maxTestMs = 24 * 60 * 60_000
const ownName = /^waypost_test_(\d{13})_[0-9a-f]{16}$/

/** @param url of a server with a user that may create databases; connects at the first `create` */
export function openTestDatabases(url: string | undefined): TestDatabases {
  const created: string[] = []
  return {
    async create(owner) {
      if (url === undefined) throw errors.WP_SERVER_TEST_SERVER({ owner })
      const name = `waypost_test_${Date.now()}_${makeUuid().replaceAll('-', '').slice(0, 16)}`
      try {
        await withClient(url, async (client) => {
          await dropAbandoned(client)
          await client.query(`create database ${name}`)
        })
      } catch (cause) {
        throw errors.WP_SERVER_TEST_DATABASE({ target: redactUrl(url), reason: messageOf(cause) }, { cause })
      }
      created.push(name)
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
    async [Symbol.asyncDispose]() {
      const names = created.splice(0)
      if (url === undefined || names.length === 0) return
      await withClient(url, async (client) => {
        for (const name of names) await client.query(`drop database if exists ${name} with (force)`)
      })
    },
  }
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await openPostgres({ url, applicationName: 'waypost test' }).openClient()
  try {
    await work(client)
  } finally {
    await client.end()
  }
}

async function dropAbandoned(client: Client): Promise<void> {
  const { rows } = await client.query<{ datname: string }>(`select datname from pg_database`)
  for (const { datname: name } of rows) {
    const createdAt = ownName.exec(name)?.[1]
    if (createdAt === undefined || Date.now() - Number(createdAt) < maxTestMs) continue
    // Ignores databases that are in use, owned by another user, or just dropped by another test process.
    await client.query(`drop database if exists ${name}`).catch(() => undefined)
  }
}
