import type { Context } from 'waypost'

const delay = '4h'
const keyOf = (id: number) => `ticket ${id}`

/** Escalates a ticket unless an agent replies in time. The first message without a reply counts: later ones change nothing. */
export async function expectReply(context: Context, id: number): Promise<void> {
  await context.dispatch('ticket_overdue', { ticket_id: id }, { delay, key: keyOf(id) })
}

export async function cancelEscalation(context: Context, id: number): Promise<void> {
  await context.cancel('ticket_overdue', keyOf(id))
}
