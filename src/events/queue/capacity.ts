import type { Settings } from '../../kit/index.ts'
import type { HostCount } from './host-shares.ts'
import type { EventCatalog } from '../message/catalog.ts'

/** What a worker may take on now. */
export interface Capacity {
  readonly catalog: EventCatalog
  readonly settings: Settings
  /** How many more deliveries it can start. */
  readonly free: number
  /** Whether messages are left for a later look, where there is enough that is due. */
  readonly isDueFirst?: boolean
  /** How many it has under way, by endpoint. */
  readonly underWay: ReadonlyMap<string, number>
  /** Begins to count what is chosen for each host. */
  countHosts?(): HostCount
}
