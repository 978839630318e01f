// Written by `waypost migrate` from the database. Commit it; do not edit it.
import type { Generated } from 'waypost'

export interface Tables {
  app_attachment: { id: Generated<number>; ticket_id: number; file: string; name: string; type: string; size: number }
  app_charge: { id: Generated<number>; tenant_id: number; ticket_id: number; cents: number; insert_date: string }
  app_comment: { id: Generated<number>; ticket_id: number; author: string; content: string; insert_date: string }
  app_member: { id: Generated<number>; tenant_id: number; user_name: string; email: string; role: string }
  app_tenant: { id: Generated<number>; name: string }
  app_ticket: {
    id: Generated<number>
    tenant_id: number
    author: string
    subject: string
    content: string
    status: Generated<'open' | 'closed'>
    priority: Generated<'normal' | 'high'>
    insert_date: string
  }
}
