import type { Settings } from '../../kit/index.ts'
import type { Outbound } from '../../outbound/index.ts'
import type { Secrets, System } from '../../store/index.ts'
import type { EventCatalog } from '../message/catalog.ts'

/** What subscribing needs; events and settings are those of the release that is active when they are asked for. */
export interface SubscriptionsOptions {
  readonly system: System
  readonly secrets: Secrets
  readonly outbound: Outbound
  catalog(): EventCatalog
  settings(): Settings
}
