// Written by `waypost migrate` from the database. Commit it; do not edit it.
import type { Generated } from 'waypost'

export interface Tables {
  app_todo: { id: Generated<number>; status: number; title: string; content: string; insert_date: string }
}
