import { defineEntity, p } from '@mikro-orm/core'
import { time } from './time.ts'

/** One administrative change. Rows are only inserted, and deleted after the retention period. */
export const Audit = defineEntity({
  name: 'Audit',
  tableName: 'waypost_audit',
  // Ids begin with the time, so each index also sorts by time.
  indexes: [
    { name: 'waypost_audit_user_index', properties: ['user_name', 'id'] },
    { name: 'waypost_audit_action_index', properties: ['action', 'id'] },
    { name: 'waypost_audit_kind_index', properties: ['kind', 'id'] },
    { name: 'waypost_audit_subject_name_index', properties: ['subject_name', 'id'] },
  ],
  properties: {
    id: p.text().primary(),
    created_at: time(),
    how: p.text().$type<'command' | 'http'>(),
    /** Null for a command. */
    user_id: p.text().nullable(),
    /** The user of the token, or the operating-system user of a command. */
    user_name: p.text(),
    client_id: p.text().nullable(),
    /** For example `user.add`. */
    action: p.text(),
    /** The part of the action before the dot. */
    kind: p.text(),
    subject_id: p.text().nullable(),
    subject_name: p.text().nullable(),
    /** The changed properties as JSON, without secrets. */
    before: p.text().nullable(),
    after: p.text().nullable(),
  },
})
