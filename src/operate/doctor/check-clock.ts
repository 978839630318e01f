import { type Clock, formatDuration } from '../../kit/index.ts'
import { type System, loadDatabaseTime } from '../../store/index.ts'
import type { Finding } from './finding.ts'

const warnMs = 30_000
const failMs = 5 * 60_000
const samples = 3

/** Compares this machine's clock, by which tokens expire, with the database's clock, by which deliveries become due. */
export async function checkClock(system: System, clock: Clock): Promise<Finding> {
  const offsets: { readonly ms: number; readonly tookMs: number }[] = []
  for (let count = 0; count < samples; count++) offsets.push(await measure(system, clock))
  const best = offsets.reduce((a, b) => (b.tookMs < a.tookMs ? b : a))
  const offsetMs = Math.abs(best.ms)
  if (offsetMs < warnMs) {
    return { check: 'clock', state: 'ok', message: `Clock ${(offsetMs / 1000).toFixed(1)} s from the database's` }
  }
  const way = best.ms > 0 ? 'ahead of' : 'behind'
  return {
    check: 'clock',
    state: offsetMs > failMs ? 'fail' : 'warn',
    message: `This machine's clock is ${formatDuration(offsetMs, Math.round)} ${way} the database's`,
    next: 'Synchronize both with a time server, for example with chrony or systemd-timesyncd.',
  }
}

async function measure(system: System, clock: Clock): Promise<{ ms: number; tookMs: number }> {
  const began = clock.now()
  const theirs = await loadDatabaseTime(system)
  const ended = clock.now()
  return { ms: (began + ended) / 2 - theirs, tookMs: ended - began }
}
