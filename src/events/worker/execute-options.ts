import type { System } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'
import type { DeliverOptions } from '../attempt/deliver.ts'
import type { AttemptReport } from './report.ts'

export interface ExecuteOptions extends DeliverOptions {
  readonly system: System
  catalog(): EventCatalog
  /** Called before each look for work, to notice another release. */
  refresh?(): Promise<void>
  /** Stops claiming; what is under way is finished. */
  readonly signal?: AbortSignal
  /** Go on when nothing is due, until the signal. */
  readonly watch?: boolean
  /** POSTs at once at most; the setting `delivery_concurrency` by default. */
  readonly concurrency?: number
  /** Called after each recorded attempt, and for a delivery that ended because its workers were lost. */
  onAttempt?(attempt: AttemptReport): void
  /** With `watch`: called when System cannot be used, which is then tried again. Without, it ends the run. */
  onError?(error: unknown): void
}
