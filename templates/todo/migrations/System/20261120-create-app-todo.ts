import type { Migration } from 'waypost'

export default {
  async up(db, type) {
    await db.schema
      .createTable('app_todo')
      .addColumn('id', type.id, (column) => column.primaryKey())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('title', 'varchar(64)', (column) => column.notNull())
      .addColumn('content', 'text', (column) => column.notNull())
      .addColumn('insert_date', type.timestamp, (column) => column.notNull())
      .execute()
    // For the list of open to-dos, newest first.
    await db.schema.createIndex('app_todo_list').on('app_todo').columns(['status', 'insert_date', 'id']).execute()
  },
  async down(db) {
    await db.schema.dropTable('app_todo').execute()
  },
} satisfies Migration
