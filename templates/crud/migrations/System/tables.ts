// Written by `waypost migrate` from the database. Commit it; do not edit it.
import type { Generated } from 'waypost'

export interface Tables {
  app_order: {
    id: Generated<number>
    user_id: string
    status: number
    item: string
    quantity: Generated<number>
    note: string | null
    version: Generated<number>
    insert_date: string
  }
}
