import { readdir, readFile } from 'node:fs/promises'
import { Client } from 'pg'
import type { TestPostgres } from '../test/support/postgres.ts'

/** The processor time of a PostgreSQL server on this machine, with all its processes. */
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

/** Includes the postmaster, its children, and ended children. */
async function countTicks(postmaster: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.map((text) => ticksOf(text, postmaster)).reduce((sum, ticks) => sum + ticks, 0)
}

function ticksOf(text: string, postmaster: string): number {
  // From the third field, because the second may contain anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [parent, user, system, childUser, childSystem] = [1, 11, 12, 13, 14].map((index) => Number(fields[index]))
  if (String(parent) === postmaster) return user! + system!
  return text.startsWith(`${postmaster} `) ? user! + system! + childUser! + childSystem! : 0
}
