import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** A cronjob of the active release: its last slot and its current or last run. */
const Cronjob = defineEntity({
  name: 'Cronjob',
  tableName: 'waypost_cronjob',
  properties: {
    name: p.text().primary(),
    schedule: p.text(),
    timezone: p.text(),
    /** The last slot that was claimed. Before the first one, the time from which slots count. */
    slot_at: time(),
    claim_id: p.text().nullable(),
    lease_until: time().nullable(),
    /** Name of the host of the current or last run. */
    server: p.text().nullable(),
    started_at: time().nullable(),
    /** End of the last finished run. */
    finished_at: time().nullable(),
    outcome: p.text().$type<'done' | 'failed'>().nullable(),
    error: p.text().nullable(),
    /** Consecutive runs that failed or whose server was lost. */
    failures: p.integer(),
  },
})

/** A run of a cronjob. The newest 100 of each cronjob are kept. */
const CronjobRun = defineEntity({
  name: 'CronjobRun',
  tableName: 'waypost_cronjob_run',
  indexes: [{ properties: ['cronjob', 'started_at'] }],
  properties: {
    /** The id of its claim, which log lines contain. */
    id: p.text().primary(),
    cronjob: p.text(),
    slot_at: time(),
    started_at: time(),
    /** Null while it is running, or if its server was lost. */
    finished_at: time().nullable(),
    outcome: p.text().$type<'done' | 'failed'>().nullable(),
    error: p.text().nullable(),
    /** Name of its host. */
    server: p.text(),
    /** Lines of JSON that its action logged, at most 16 KB. */
    log: p.text().nullable(),
  },
})

/** Cronjobs and their last runs. */
export const cronjobEntities = [Cronjob, CronjobRun] as const
