import { formatWait, isPrivateAddress, networkOf, type Clock } from '../../kit/index.ts'
import type { System } from '../../store/index.ts'
import { errors } from '../errors.ts'
import { hit } from './throttle.ts'

const windowMs = 3_600_000
/** A private address is most often a proxy that everybody comes through. */
const limits = { public: 10, private: 100 }

/**
 * Counts an attempt to register, one that fails too, over all servers of one System: it costs a hash, and its answer
 * says whether a name is taken.
 * @throws WP_AUTH_REGISTRATIONS
 */
export async function countRegistration(system: System, clock: Clock, address: string): Promise<void> {
  const now = clock.now()
  const bucket = JSON.stringify(['register', networkOf(address).slice(0, 64)])
  const { count, expires_at: ends } = await system.transaction((trx) => hit(trx, bucket, { now, windowMs }))
  if (count <= (isPrivateAddress(address) ? limits.private : limits.public)) return
  const seconds = Math.max(1, Math.ceil((ends - now) / 1000))
  throw errors.WP_AUTH_REGISTRATIONS({ wait: formatWait(seconds) }, { retryAfterSeconds: seconds })
}
