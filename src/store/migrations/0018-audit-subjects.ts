import { Migration } from '@mikro-orm/migrations'

/** The changes of a subject are found by its name alone. */
export class AuditSubjects extends Migration {
  override up(): void {
    this.addSql('drop index "waypost_audit_subject_index"')
    this.addSql('create index "waypost_audit_subject_name_index" on "waypost_audit" ("subject_name", "id")')
  }
}
