import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import type { TestPostgres } from '../test/support/postgres.ts'

/** What a PostgreSQL server on this machine uses of the processor, all its processes together. */
export interface PostgresCost {
  /** Microseconds since this was opened. */
  micros(): Promise<number>
}

/** The kernel counts in hundredths of a second. */
const microsPerTick = 10_000

export async function openPostgresCost(postgres: TestPostgres): Promise<PostgresCost> {
  const client = new Client({ connectionString: postgres.url('postgres') })
  await client.connect()
  const { rows } = await client.query<{ pid: string }>(
    `select split_part(pg_read_file('postmaster.pid'), e'\\n', 1) as pid`,
  )
  await client.end()
  const pid = rows[0]!.pid
  const before = await countTicks(pid)
  return { micros: async () => ((await countTicks(pid)) - before) * microsPerTick }
}

/** Of the postmaster, of its children, and of those that are gone. */
async function countTicks(postmaster: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.map((text) => ticksOf(text, postmaster)).reduce((sum, ticks) => sum + ticks, 0)
}

function ticksOf(text: string, postmaster: string): number {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ') // from the third on; the second may hold anything
  const [parent, user, system, childUser, childSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]))
  if (String(parent) === postmaster) return user! + system!
  return text.startsWith(`${postmaster} `) ? user! + system! + childUser! + childSystem! : 0
}
