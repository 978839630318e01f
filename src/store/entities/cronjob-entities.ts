import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** A cronjob of the active release: its last slot, and who runs or ran it. */
const Cronjob = defineEntity({
  name: 'Cronjob',
  tableName: 'waypost_cronjob',
  properties: {
    name: p.text().primary(),
    schedule: p.text(),
    timezone: p.text(),
    /** The last slot that was taken; before the first one, since when slots count. */
    slot_at: time(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    /** Name of the machine that runs it, or ran it last. */
    server: p.text().nullable(),
    started_at: time().nullable(),
    /** When the last run that came to an end did so, and how. */
    finished_at: time().nullable(),
    outcome: p.text().$type<'done' | 'failed'>().nullable(),
    error: p.text().nullable(),
    /** Runs in a row that failed or whose server was lost. */
    failures: p.integer(),
  },
})

/** Cronjobs and their last runs. */
export const cronjobEntities = [Cronjob] as const
